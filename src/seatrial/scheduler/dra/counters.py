"""Shared counters of partitionable devices: what the partitions of a device may consume together.

Upstream: checkAvailableCounters in structured/internal/incubating/allocator_incubating.go. Upstream keys its books by
the name of the pool alone, whatever the driver; so do we.
"""

from seatrial.model.quantity import Quantity
from seatrial.scheduler.dra.pools import Candidate, Pool
from seatrial.scheduler.dra.state import AllocatedState

CounterSets = dict[str, dict[str, Quantity]]


class CounterBook:
    """What is left of each pool's counters before a search; worked out when a pool is first asked about."""

    def __init__(self, state: AllocatedState) -> None:
        self._state = state
        self._available: dict[str, CounterSets] = {}

    def start(self) -> "CounterSearch":
        """The books of one search."""
        return CounterSearch(self)

    def available(self, pool: Pool) -> CounterSets:
        """Counters of the pool less what its allocated devices consume, wherever those are; may be negative."""
        known = self._available.get(pool.name)
        if known is not None:
            return known
        left: CounterSets = {name: dict(counters) for name, counters in (pool.counter_sets or {}).items()}
        for piece in (*pool.slices, *pool.other_slices):
            for device in piece.devices:
                if not device.consumes or not self._state.is_allocated(piece.id_of(device)):
                    continue
                for name, counters in device.consumes:
                    counter_set = left.get(name, {})
                    for counter, quantity in counters.items():
                        if counter in counter_set:
                            counter_set[counter] = counter_set[counter] - quantity
        self._available[pool.name] = left
        return left


class CounterSearch:
    """Counters consumed by the devices picked so far."""

    def __init__(self, book: CounterBook) -> None:
        self._book = book
        self._consumed: dict[str, CounterSets] = {}

    def reserve(self, candidate: Candidate) -> bool:
        """Consumes the counters of a device, unless that is more than there is."""
        available = self._book.available(candidate.pool)
        consumed = self._consumed.setdefault(candidate.pool.name, {})
        for name, counters in candidate.device.consumes:
            counter_set = consumed.setdefault(name, {})
            for counter, quantity in counters.items():
                counter_set[counter] = counter_set[counter] + quantity if counter in counter_set else quantity
        for name, left in available.items():
            used = consumed.get(name, {})
            for counter, quantity in left.items():
                if quantity.compare(used.get(counter, _ZERO)) < 0:
                    self.release(candidate)
                    return False
        return True

    def release(self, candidate: Candidate) -> None:
        """Gives the counters of a device back."""
        consumed = self._consumed[candidate.pool.name]
        for name, counters in candidate.device.consumes:
            for counter, quantity in counters.items():
                consumed[name][counter] = consumed[name][counter] - quantity


_ZERO = Quantity(0)
