"""Extended resources that devices provide: how many of them a node reaches, and how many are taken, for scores.

Upstream: pkg/scheduler/framework/plugins/noderesources/resource_allocation.go (calculateDRAResourceTotals).
"""

import numpy as np

from seatrial.model.cel import CelError
from seatrial.model.documents import Document
from seatrial.scheduler.cache.node_info import NodeInfo
from seatrial.scheduler.cache.node_table import Ints, Nodes
from seatrial.scheduler.dra.devices import Device, Slice
from seatrial.scheduler.dra.pools import device_matches, node_matches
from seatrial.scheduler.dra.state import AllocatedState
from seatrial.scheduler.dra.tracker import DeviceTracker
from seatrial.scheduler.framework.interface import Handle


class DeviceTotals:
    """Counts devices in place of a node's own capacity."""

    def __init__(self, handle: Handle) -> None:
        self._cluster = handle.cluster
        checks = handle.version.rules.checks_pools
        self._tracker: DeviceTracker = handle.shared.setdefault(
            "devices", DeviceTracker(handle.cluster, handle.gates, checks_pools=checks)
        )
        self._slices: tuple[int, list[Slice]] = (-1, [])

    def totals(self, nodes: Nodes, resource: str) -> tuple[Ints, Ints] | None:
        """Devices per node and how many of them are allocated; None where no device class stands for the resource."""
        device_class = self._tracker.classes.for_resource(resource)
        if device_class is None:
            return None
        counts = np.zeros((2, len(nodes)), np.int64)
        allocated = self._tracker.allocated()
        for place in range(len(nodes)):
            if nodes.is_there(place):
                counts[:, place] = self._on_node(nodes[place], device_class, allocated)
        return counts[0], counts[1]

    def _on_node(self, node: NodeInfo, device_class: Document, allocated: AllocatedState) -> tuple[int, int]:
        """A selector that fails makes the node count as without devices."""
        capacity = taken = 0
        try:
            for piece in self._listed():
                for device in _reachable(piece, node):
                    if _is_of(device, device_class):
                        capacity += 1
                        taken += allocated.is_allocated(piece.id_of(device))
        except CelError:
            return 0, 0
        return capacity, taken

    def _listed(self) -> list[Slice]:
        version = self._cluster.version("ResourceSlice")
        if self._slices[0] != version:
            self._slices = (version, [Slice(document) for document in self._cluster.list("ResourceSlice")])
        return self._slices[1]


def _reachable(piece: Slice, node: NodeInfo) -> tuple[Device, ...]:
    """The devices of a slice that a node can use."""
    if piece.per_device:
        return tuple(device for device in piece.devices if device_matches(node, device))
    if piece.all_nodes or node_matches(node, piece.node_name, False, piece.node_selector):
        return piece.devices
    return () if piece.node_name or piece.node_selector is not None else piece.devices


def _is_of(device: Device, device_class: Document) -> bool:
    for selector in (device_class.get("spec") or {}).get("selectors") or ():
        expression = (selector.get("cel") or {}).get("expression")
        if expression is not None and not device.matches(expression):
            return False
    return True
