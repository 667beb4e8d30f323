"""Which devices are taken, by the claims that are allocated.

Upstream: pkg/scheduler/framework/plugins/dynamicresources/allocateddevices.go. Devices given with admin access do not
count; a share of a device counts with its capacity alone.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from seatrial.model.documents import Document
from seatrial.model.quantity import Quantity
from seatrial.scheduler.dra.capacity import ConsumedCapacity
from seatrial.scheduler.dra.devices import DeviceID


@dataclass(slots=True)
class AllocatedState:
    """Devices in use, shares of devices, and the capacity consumed of shared ones."""

    devices: set[DeviceID] = field(default_factory=set)
    shares: dict[DeviceID, set[str]] = field(default_factory=dict)
    capacity: ConsumedCapacity = field(default_factory=ConsumedCapacity)
    has_shares: bool = True
    """False without DRAConsumableCapacity: a device of which a share was given is taken as a whole."""

    def add(self, allocation: Document) -> None:
        """Counts the devices of an allocation."""
        for device, result in _counted(allocation):
            if result.get("shareID") is None or not self.has_shares:
                self.devices.add(device)
                continue
            self.shares.setdefault(device, set()).add(result["shareID"])
            if result.get("consumedCapacity") is not None:
                self.capacity.insert(device, _quantities(result))

    def remove(self, allocation: Document) -> None:
        """Frees the devices of an allocation."""
        for device, result in _counted(allocation):
            if result.get("shareID") is None or not self.has_shares:
                self.devices.discard(device)
                continue
            shares = self.shares.get(device, set())
            shares.discard(result["shareID"])
            if not shares:
                self.shares.pop(device, None)
            if result.get("consumedCapacity") is not None:
                self.capacity.remove(device, _quantities(result))

    def copy(self) -> "AllocatedState":
        shares = {device: set(ids) for device, ids in self.shares.items()}
        return AllocatedState(set(self.devices), shares, self.capacity.copy(), self.has_shares)

    def is_allocated(self, device: DeviceID) -> bool:
        return device in self.devices or device in self.shares or device in self.capacity


def _counted(allocation: Document) -> Iterator[tuple[DeviceID, Document]]:
    for result in (allocation.get("devices") or {}).get("results") or ():
        if not result.get("adminAccess"):
            yield (result.get("driver", ""), result.get("pool", ""), result.get("device", "")), result


def _quantities(result: Document) -> dict[str, Quantity]:
    return {name: Quantity.parse(value) for name, value in result["consumedCapacity"].items()}


def state_of(allocations: Iterable[Document]) -> AllocatedState:
    """What all these allocations take."""
    state = AllocatedState()
    for allocation in allocations:
        state.add(allocation)
    return state
