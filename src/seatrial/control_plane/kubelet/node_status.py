"""Keeps what a kubelet reports of its node: addresses, node info, heartbeats, and allocatable extended resources.

A node that exists already says what it is: only what is missing is added. The pod range of a node, which
kube-controller-manager allocates, is set here too. A node whose Ready condition is Unknown has lost its kubelet and
sends no heartbeat.

Upstream: pkg/kubelet/nodestatus/setters.go, pkg/kubelet/kubelet_node_status.go (nodeStatusReportFrequency 5 minutes).
"""

import hashlib
from collections.abc import Iterable, Mapping
from typing import ClassVar

from seatrial.clock import Timer
from seatrial.control_plane.kubelet.addresses import NodeAddresses, address_of
from seatrial.controllers.framework import Context, Key, Listener, QueueController
from seatrial.controllers.node import ready_status
from seatrial.model.documents import Document
from seatrial.model.errors import NotFound
from seatrial.model.kinds import Kind
from seatrial.model.times import SECOND, to_time
from seatrial.store import Change

LOOK_EVERY = 10 * SECOND
REPORTED_EVERY = 300 * SECOND
REPORTED_CONDITIONS = frozenset({"Ready", "MemoryPressure", "DiskPressure", "PIDPressure"})


class NodeStatus(QueueController):
    """Completes the status of every node, and renews its heartbeat."""

    name: ClassVar[str] = "nodestatus"
    reads_pods: ClassVar[bool] = False

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.kind = context.kind("v1", "Node")
        self._addresses = NodeAddresses()
        self._extended: dict[str, Document] = {}
        """The extended resources of each node's capacity, as they were."""
        self._report_at: dict[str, int] = {}
        """When each node's next heartbeat is due."""
        self._timer: Timer | None = None

    def watches(self) -> Mapping[Kind, Listener]:
        return {self.kind: self._changed}

    def owners(self) -> Iterable[Kind]:
        return [self.kind]

    def start(self) -> None:
        for stored in self.store.list(self.kind):
            self._addresses.occupy(stored.document())
        super().start()
        self._timer = self.clock.after(LOOK_EVERY, self._look, outer=True)

    def stop(self) -> None:
        super().stop()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._addresses = NodeAddresses()
        self._extended.clear()
        self._report_at.clear()

    def sync(self, key: Key) -> None:
        stored = self.store.find(self.kind, key[1])
        if stored is None:
            return
        node = stored.document()
        if not node["spec"].get("podCIDR"):
            self.store.modify(self.kind, stored.name, self._allocate_range, writer=self.name)
        is_due = self._is_due(stored.name)
        self.store.modify(
            self.kind,
            stored.name,
            lambda found: self._report(found, is_due),
            subresource="status",
            writer=self.name,
        )

    def _allocate_range(self, node: Document) -> None:
        pod_range = self._addresses.pod_range()
        if pod_range:
            node["spec"] |= {"podCIDR": pod_range, "podCIDRs": [pod_range]}

    def _report(self, node: Document, is_due: bool) -> None:
        status = node.setdefault("status", {})
        if not status.get("addresses"):
            status["addresses"] = self._new_addresses(node)
        status["nodeInfo"] = _node_info(node, self.store.release)
        self._follow_capacity(node["metadata"]["name"], status)
        if is_due and ready_status(node) != "Unknown":
            now = to_time(self.clock.now())
            for condition in status.get("conditions") or []:
                if condition["type"] in REPORTED_CONDITIONS:
                    condition["lastHeartbeatTime"] = now

    def _new_addresses(self, node: Document) -> list[Document]:
        name, internal = node["metadata"]["name"], self._addresses.internal_address()
        own = [{"type": "InternalIP", "address": internal}] if internal else []
        return [*own, {"type": "Hostname", "address": name}]

    def _follow_capacity(self, name: str, status: Document) -> None:
        """An extended resource that is new or changed in capacity is so in allocatable; one that is gone is gone."""
        capacity = {key: value for key, value in (status.get("capacity") or {}).items() if _is_extended(key)}
        known = self._extended.get(name)
        allocatable = status.setdefault("allocatable", {})
        for key, value in capacity.items():
            if key not in allocatable or (known is not None and known.get(key) != value):
                allocatable[key] = value
        for key in known or {}:
            if key not in capacity:
                allocatable.pop(key, None)
        if not allocatable:
            del status["allocatable"]
        self._extended[name] = capacity

    def _is_due(self, name: str) -> bool:
        now = self.clock.now()
        if name not in self._report_at:  # nodes report at different times, so that one moment does not write them all
            spread = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=4).digest()) % REPORTED_EVERY
            self._report_at[name] = now + spread
            return False
        if now < self._report_at[name]:
            return False
        self._report_at[name] = now + REPORTED_EVERY
        return True

    def _look(self) -> None:
        now = self.clock.now()
        for name, due in self._report_at.items():
            if due <= now:
                self.enqueue(("", name))
        self._timer = self.clock.after(LOOK_EVERY, self._look, outer=True)

    def _changed(self, change: Change) -> None:
        name = change.stored.name
        if change.type == "DELETED":
            self._addresses.release(change.stored.document())
            self._extended.pop(name, None)
            self._report_at.pop(name, None)
        elif change.writer != self.name:
            self._addresses.occupy(change.stored.document())
            self.enqueue(("", name))

    def work(self) -> bool:
        try:
            return super().work()
        except NotFound:
            return True


def host_address(node: Document) -> str:
    """The address that pods on the host's network have."""
    return address_of(node) or address_of(node, "ExternalIP")


def _is_extended(name: str) -> bool:
    return "/" in name and "kubernetes.io/" not in name


def _node_info(node: Document, release: str) -> Document:
    """The node info, with what is missing filled in; identities derive from the node's uid."""
    labels, uid = node["metadata"].get("labels", {}), node["metadata"].get("uid", "")
    present = node["status"].get("nodeInfo") or {}
    defaults = {
        "architecture": labels.get("kubernetes.io/arch", "amd64"),
        "bootID": uid,
        "containerRuntimeVersion": "seatrial://1",
        "kernelVersion": "6.12.0",
        "kubeProxyVersion": "",
        "kubeletVersion": release,
        "machineID": uid.replace("-", ""),
        "operatingSystem": labels.get("kubernetes.io/os", "linux"),
        "osImage": "Seatrial",
        "systemUUID": uid,
    }
    return present | {key: value for key, value in defaults.items() if not present.get(key)}
