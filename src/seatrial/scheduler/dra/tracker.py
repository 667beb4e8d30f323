"""The state of devices that all profiles share: the slices, the allocated devices, and the allocations in progress.

Upstream: dynamicresources/dra_manager.go. An allocation is in flight from Reserve until PreBind has written it; its
devices are taken, and no other pod may use the claim until then.
"""

from collections.abc import Mapping, Sequence

from seatrial.model.documents import Document
from seatrial.scheduler.dra import taint_rules
from seatrial.scheduler.dra.extended import DeviceClasses
from seatrial.scheduler.dra.pod_claims import allocation_of
from seatrial.scheduler.dra.pools import Inventory
from seatrial.scheduler.dra.state import AllocatedState
from seatrial.scheduler.framework.cluster import ObjectLister
from seatrial.scheduler.volumes.claims import metadata_of

TAINTS, CONDITIONS = "DRADeviceTaints", "DRADeviceBindingConditions"
CAPACITY, PARTITIONS = "DRAConsumableCapacity", "DRAPartitionableDevices"

_FIELDS = {TAINTS: "taints", CAPACITY: "allowMultipleAllocations"}
"""By gate: the field of devices that does not count without it."""


def visible(slices: Sequence[Document], gates: Mapping[str, bool]) -> Sequence[Document]:
    """The slices without what gates hide: taints and shares of devices, and devices that a pod has to wait for."""
    has_conditions = gates.get(CONDITIONS, True)
    hidden = {field for gate, field in _FIELDS.items() if not gates.get(gate, True)}
    if not hidden and has_conditions:
        return slices
    found = []
    for document in slices:
        devices = (document.get("spec") or {}).get("devices") or ()
        kept = [device for device in devices if has_conditions or not device.get("bindingConditions")]
        if hidden:
            kept = [{key: value for key, value in device.items() if key not in hidden} for device in kept]
        found.append({**document, "spec": {**document["spec"], "devices": kept}})
    return found


class DeviceTracker:
    """Derived from the cluster's objects; brought up to date when one of them has changed."""

    def __init__(self, cluster: ObjectLister, gates: Mapping[str, bool], *, checks_pools: bool = True) -> None:
        self._cluster = cluster
        self._gates = gates
        self._checks_pools = checks_pools
        self.classes = DeviceClasses(cluster)
        self.in_flight: dict[str, Document] = {}
        """Allocations by claim uid."""
        self._inventory: tuple[tuple[int, int], Inventory] | None = None
        self._claims_version = -1
        self._known: dict[tuple[str, str], Document] = {}
        self._state = AllocatedState(has_shares=gates.get(CAPACITY, True))

    def inventory(self) -> Inventory:
        """All slices with their pools."""
        version = self._cluster.version("ResourceSlice"), self._cluster.version(taint_rules.KIND)
        if self._inventory is None or self._inventory[0] != version:
            slices = self._cluster.list("ResourceSlice")
            if self._gates.get(taint_rules.GATE, False):
                slices = taint_rules.tainted(slices, self._cluster.list(taint_rules.KIND))
            slices = visible(slices, self._gates)
            partitions = self._gates.get(PARTITIONS, True)
            made = Inventory(slices, has_partitions=partitions, checks_pools=self._checks_pools)
            self._inventory = (version, made)
        return self._inventory[1]

    def allocated(self) -> AllocatedState:
        """The devices taken by claims, stored and in flight. Not to be changed."""
        self._refresh()
        if not self.in_flight:
            return self._state
        state = self._state.copy()
        for allocation in self.in_flight.values():
            state.add(allocation)
        return state

    def _refresh(self) -> None:
        """Counts claims that were allocated or freed since the last time; a claim's allocation never changes."""
        version = self._cluster.version("ResourceClaim")
        if version == self._claims_version:
            return
        self._claims_version = version
        current: dict[tuple[str, str], Document] = {}
        for claim in self._cluster.list("ResourceClaim"):
            allocation = allocation_of(claim)
            if allocation is not None:
                metadata = metadata_of(claim)
                current[metadata.get("namespace") or "", metadata.get("name", "")] = allocation
        gone = [key for key, allocation in self._known.items() if current.get(key) is not allocation]
        for key in gone:
            self._state.remove(self._known.pop(key))
        for key, allocation in current.items():
            if key not in self._known:
                self._known[key] = allocation
                self._state.add(allocation)
