"""Looking ahead in a long search: branches that must fail are not entered.

Upstream searches on until its time is up; the number of combinations grows beyond all bounds when a late request cannot
be satisfied. Here two things end such branches early, and neither changes which solution is found, or that an error is
found first: a state of the search that failed once fails again, also with other devices of the same make in place of
those tried, and a request with too few free devices left fails whatever is picked before it.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

import orjson

from seatrial.scheduler.dra.constraints import Constraint, value_of
from seatrial.scheduler.dra.devices import DeviceID
from seatrial.scheduler.dra.pools import Candidate
from seatrial.scheduler.dra.requests import Wanted
from seatrial.scheduler.dra.results import Granted
from seatrial.scheduler.dra.state import AllocatedState

Selectable = Callable[[int, int, int], list[Candidate] | None]
IsFree = Callable[[int, bool, DeviceID], bool]
Key = Hashable


class Lookahead:
    """What is known about the rest of a search."""

    def __init__(
        self,
        wanted: Sequence[Sequence[Sequence[Wanted]]],
        constraints: Sequence[Sequence[Constraint]],
        ask: Selectable,
        devices: Iterable[Candidate],
        state: AllocatedState,
    ) -> None:
        self.failed: set[Key] = set()
        self._wanted = wanted
        self._places = [(c, r) for c, requests in enumerate(wanted) for r in range(len(requests))]
        self._order = {place: number for number, place in enumerate(self._places)}
        self._devices: dict[tuple[int, int], list[list[DeviceID]]] = {}
        self._is_risky: dict[tuple[int, int], bool] = {}
        for claim, request in self._places:
            found = [ask(claim, request, place) for place in range(len(wanted[claim][request]))]
            self._devices[claim, request] = [[candidate.id for candidate in listed or ()] for listed in found]
            # Where an error may come up first, or a constraint may make one of a request for all devices, nothing is
            # known: the search itself has to go there.
            self._is_risky[claim, request] = None in found or (
                bool(constraints[claim]) and any(one.request.all_devices for one in wanted[claim][request])
            )

        known = {candidate.id: candidate for candidate in devices}
        self._concerns = self._find_concerns(known)
        names = sorted({constraint.name for listed in constraints for constraint in listed})
        selected = [set(ids) for listed in self._devices.values() for ids in listed]
        makes: dict[Hashable, int] = {}
        self._make = {
            candidate.id: makes.setdefault(_make_of(candidate, selected, names, state), len(makes))
            for candidate in known.values()
        }

    def _find_concerns(self, devices: Mapping[DeviceID, Candidate]) -> dict[tuple[int, int], "_Concerns"]:
        """For each place of the search the devices that can still make a difference."""
        concerns = _Concerns(frozenset(), frozenset(), frozenset())
        found: dict[tuple[int, int], _Concerns] = {}
        for place in reversed(self._places):
            for wanted, ids in zip(self._wanted[place[0]][place[1]], self._devices[place], strict=True):
                listed = frozenset(devices if self._is_risky[place] else ids)
                pools = frozenset(devices[device].pool.name for device in listed if devices[device].device.consumes)
                own = wanted.request.admin_access and not self._is_risky[place]
                concerns = _Concerns(
                    concerns.anyone | (frozenset() if own else listed), concerns.own | listed, concerns.pools | pools
                )
            found[place] = concerns
        return found

    def is_hopeless(self, claim: int, request: int, is_free: IsFree, begun: bool = False) -> bool:
        """Whether this request (unless it has begun) or a later one has too few free devices left.

        Never so where an error may come up before that shows.
        """
        place = self._order[claim, request]
        for number in range(place, len(self._places)):
            if self._is_risky[self._places[number]]:
                return False
            if not (begun and number == place) and not self._is_possible(*self._places[number], is_free):
                return True
        return False

    def _is_possible(self, claim: int, request: int, is_free: IsFree) -> bool:
        for wanted, devices in zip(self._wanted[claim][request], self._devices[claim, request], strict=True):
            is_admin = wanted.request.admin_access
            if wanted.request.all_devices:
                listed = [candidate.id for candidate in wanted.candidates]
                if listed and all(is_free(claim, is_admin, device) for device in listed):
                    return True
            elif sum(1 for device in devices if is_free(claim, is_admin, device)) >= wanted.count:
                return True
        return False

    def state(
        self, claim: int, request: int, granted: Sequence[Sequence[Granted]], constraints: Sequence[Constraint]
    ) -> Key:
        """All that the rest of the search depends on: what is taken of devices of which make, and the constraints."""
        taken: dict[DeviceID, list[Hashable]] = {}
        concerns = self._concerns[claim, request]
        for number, entries in enumerate(granted):
            for entry in entries:
                if not concerns.has(entry.candidate, number == claim):
                    continue
                amounts = tuple(sorted((name, str(amount)) for name, amount in (entry.consumed or {}).items()))
                taken.setdefault(entry.candidate.id, []).append((number == claim, amounts))
        devices = sorted((self._make[device], tuple(sorted(uses))) for device, uses in taken.items())  # type: ignore[type-var]
        return claim, request, tuple(devices), tuple(constraint.state() for constraint in constraints)


class _Concerns(NamedTuple):
    """Devices that the rest of a search may ask for."""

    anyone: frozenset[DeviceID]
    """Not to be had any more once anyone has them."""
    own: frozenset[DeviceID]
    """With admin access: not to be had twice by the same claim."""
    pools: frozenset[str]
    """Pools whose counters the rest may draw on."""

    def has(self, candidate: Candidate, is_own: bool) -> bool:
        device = candidate.device
        if candidate.id in self.anyone or (device.consumes and candidate.pool.name in self.pools):
            return True
        return candidate.id in self.own and (is_own or device.allow_multiple)


def _make_of(
    candidate: Candidate, selected: Sequence[set[DeviceID]], names: Sequence[str], state: AllocatedState
) -> Key:
    """The properties of a device that this search can distinguish."""
    device = candidate.device
    taken = state.capacity.get(candidate.id)
    return (
        tuple(candidate.id in ids for ids in selected),
        tuple(value_of(attribute) if (attribute := device.attribute(name)) else None for name in names),
        orjson.dumps([device.document.get(name) for name in ("taints", "capacity", "consumesCounters")]),
        candidate.pool.name if device.consumes else "",
        device.allow_multiple,
        candidate.id in state.devices,
        taken is not None and tuple(sorted((name, str(amount)) for name, amount in taken.items())),
    )
