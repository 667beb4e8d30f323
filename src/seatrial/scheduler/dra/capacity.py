"""Consumable capacity: how much of a shared device a request takes, and whether that is left.

Upstream: structured/internal/incubating/consumable_capacity.go.
"""

from collections.abc import Mapping

from seatrial.model.quantity import BINARY_SI, Quantity
from seatrial.scheduler.dra.devices import Capacity

Consumed = Mapping[str, Quantity]
NOTHING: Consumed = {}


def consumed_by(requests: Consumed, capacities: Mapping[str, Capacity]) -> dict[str, Quantity]:
    """What a request takes of each capacity of a device."""
    return {name: _consumed(requests.get(name), capacity) for name, capacity in capacities.items()}


def fits(taken: Consumed, requests: Consumed, capacities: Mapping[str, Capacity], taking: Consumed) -> bool:
    """Whether a request can be added to what is taken and what is being taken in this search."""
    if any(name not in capacities for name in requests):
        return False
    for name, capacity in capacities.items():
        total = _consumed(requests.get(name), capacity)
        if _violates(total, capacity):
            return False
        if name in taken:
            total = taken[name] + total
        if name in taking:
            total = total + taking[name]
        if total.compare(capacity.value) > 0:
            return False
    return True


def _consumed(requested: Quantity | None, capacity: Capacity) -> Quantity:
    if requested is None:
        return capacity.value if capacity.default is None else capacity.default
    if not capacity.has_policy:
        return requested
    if capacity.least is not None:
        return _rounded_up(requested, capacity)
    return next((value for value in capacity.valid_values if requested.compare(value) <= 0), requested)


def _rounded_up(requested: Quantity, capacity: Capacity) -> Quantity:
    assert capacity.least is not None
    if requested.compare(capacity.least) < 0:
        return capacity.least
    if capacity.step is None:
        return requested
    step, least = capacity.step.value(), capacity.least.value()
    steps = -(-(requested.value() - least) // step)
    return Quantity(least + step * steps, 0, BINARY_SI)


def _violates(value: Quantity, capacity: Capacity) -> bool:
    if not capacity.has_policy or (capacity.default is not None and value.compare(capacity.default) == 0):
        return False
    if capacity.has_range:
        if capacity.most is not None and value.compare(capacity.most) > 0:
            return True
        if capacity.step is None or capacity.least is None:
            return False
        return (value.value() - capacity.least.value()) % capacity.step.value() != 0
    return bool(capacity.valid_values) and all(value.compare(valid) != 0 for valid in capacity.valid_values)


class ConsumedCapacity(dict[tuple[str, str, str], dict[str, Quantity]]):
    """Consumed capacity by device. An entry, even an empty one, marks the device as shared already."""

    def insert(self, device: tuple[str, str, str], consumed: Consumed) -> None:
        """Adds a share."""
        entry = self.setdefault(device, {})
        for name, quantity in consumed.items():
            entry[name] = entry[name] + quantity if name in entry else quantity

    def remove(self, device: tuple[str, str, str], consumed: Consumed) -> None:
        """Takes a share away; the entry goes with the last of it."""
        entry = self.get(device)
        if entry is None:
            return
        for name, quantity in consumed.items():
            if name in entry:
                entry[name] = entry[name] - quantity
        if all(quantity.is_zero() for quantity in entry.values()):
            del self[device]

    def copy(self) -> "ConsumedCapacity":
        return ConsumedCapacity({device: dict(entry) for device, entry in self.items()})
