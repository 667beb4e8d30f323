"""Which devices are taken, by the claims that are allocated.

Upstream: pkg/scheduler/framework/plugins/dynamicresources/allocateddevices.go. Devices given with admin access do not
count; a share of a device counts with its capacity alone.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from seatrial.model.documents import Document
from seatrial.model.quantity import Quantity
from seatrial.scheduler.dra.capacity import ConsumedCapacity
from seatrial.scheduler.dra.devices import DeviceID


@dataclass(slots=True)
class AllocatedState:
    """Devices in use, shares of devices, and the capacity consumed of shared ones."""

    devices: set[DeviceID] = field(default_factory=set)
    shared: set[DeviceID] = field(default_factory=set)
    capacity: ConsumedCapacity = field(default_factory=ConsumedCapacity)

    def add(self, allocation: Document) -> None:
        """Counts the devices of an allocation."""
        for result in (allocation.get("devices") or {}).get("results") or ():
            if result.get("adminAccess"):
                continue
            device = (result.get("driver", ""), result.get("pool", ""), result.get("device", ""))
            if result.get("shareID") is None:
                self.devices.add(device)
                continue
            self.shared.add(device)
            if result.get("consumedCapacity") is not None:
                consumed = {name: Quantity.parse(value) for name, value in result["consumedCapacity"].items()}
                self.capacity.insert(device, consumed)

    def is_allocated(self, device: DeviceID) -> bool:
        return device in self.devices or device in self.shared or device in self.capacity


def state_of(allocations: Iterable[Document]) -> AllocatedState:
    """What all these allocations take."""
    state = AllocatedState()
    for allocation in allocations:
        state.add(allocation)
    return state
