"""The allocator: claims, devices and a node in, one allocation per claim out, or none.

An exhaustive search with backtracking: claim after claim, request after request, device after device, the first full
solution wins. Devices of one request are only combined in the order of the pools, never permuted. Which solution is
found depends on the order of every step, so this follows upstream's closely.

Upstream: structured/internal/incubating/allocator_incubating.go (v0.36.3).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from seatrial.model.cel import CelError, CelSyntaxError
from seatrial.model.documents import Document
from seatrial.model.quantity import Quantity
from seatrial.scheduler.cache.node_selectors import NamedNode
from seatrial.scheduler.dra.capacity import NOTHING, ConsumedCapacity, consumed_by, fits
from seatrial.scheduler.dra.constraints import Constraint, read_constraints
from seatrial.scheduler.dra.counters import CounterBook
from seatrial.scheduler.dra.devices import DeviceID, show_device
from seatrial.scheduler.dra.lookahead import Lookahead
from seatrial.scheduler.dra.pools import Candidate, Inventory, Pool, device_matches
from seatrial.scheduler.dra.requests import DeviceRequest, Wanted, key_of, requests_of
from seatrial.scheduler.dra.results import Granted, allocation_document
from seatrial.scheduler.dra.state import AllocatedState
from seatrial.scheduler.versions import DEFAULT, Rules

MOST_DEVICES = 32
PATIENCE = 200
"""Devices tried before a search begins to look ahead."""
MOST_TRIED = 200_000
"""Devices tried before a search is given up. Upstream gives up after 10 seconds; a count is the same on any machine."""
INVALID_POOLS = "invalid resource pools were encountered"

Classes = Callable[[str], Document | None]
Location = tuple[int, int, int]
START: Location = (0, 0, 0)


class AllocationError(Exception):
    """Something is wrong with a claim, a class or a pool: scheduling of the pod ends here."""


class NodeRefused(Exception):
    """The node cannot satisfy the claims, and the message says why; other nodes may."""


class _TooMany(Exception):
    """A claim would get more devices than a result can hold: an alternative with fewer may do."""


_HINT = (
    ". consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() for optional"
    " fields"
)


class Allocator:
    """Allocates for one scheduling cycle: devices taken do not change between nodes."""

    def __init__(
        self,
        inventory: Inventory,
        state: AllocatedState,
        classes: Classes,
        *,
        gives_up: bool = True,
        rules: Rules = DEFAULT.rules,
    ) -> None:
        self.inventory = inventory
        self.state = state
        self.classes = classes
        self.gives_up = gives_up
        """Whether a search ends after a number of devices; without DRASchedulerFilterTimeout it does not."""
        self.rules = rules
        self.counters = CounterBook(state)

    def allocate(self, node: NamedNode, claims: Sequence[Document]) -> list[Document] | None:
        """An allocation for each claim, or None; AllocationError and NodeRefused say why not."""
        search = _Search(self, node, claims)
        search.prepare()
        if not search.claim(0):
            if self.rules.checks_pools and any(pool.is_invalid for pool in search.pools):
                raise NodeRefused(INVALID_POOLS)
            return None
        return [
            allocation_document(claim, granted, wanted, node.name)
            for claim, granted, wanted in zip(claims, search.granted, search.chosen_requests(), strict=True)
        ]


@dataclass(slots=True)
class _Undo:
    """The changes that the allocation of a device made, to revert them."""

    counters: bool = False
    constraints: int = 0
    marked: bool = False
    consumed: Mapping[str, Quantity] | None = None
    was_shared: bool = False


@dataclass(slots=True)
class _Step:
    """A position in the search: a claim, one of its requests, the alternative tried."""

    claim: int
    request: int
    alternative: int
    wanted: Wanted = field(repr=False)

    @property
    def base_name(self) -> str:
        return self.wanted.request.parent or self.wanted.request.name

    @property
    def sub_name(self) -> str:
        return self.wanted.request.name if self.wanted.request.parent else ""


class _Search:
    """One search for one node."""

    def __init__(self, allocator: Allocator, node: NamedNode, claims: Sequence[Document]) -> None:
        self.allocator = allocator
        self.node = node
        self.claims = claims
        self.pools = allocator.inventory.pools(node)
        self.wanted: list[list[list[Wanted]]] = []
        self.constraints: list[list[Constraint]] = []
        self.granted: list[list[Granted]] = [[] for _ in claims]
        self.chosen: dict[tuple[int, int], int] = {}
        self.selectable: dict[tuple[DeviceID, int, int, int], bool] = {}
        self.taking: dict[DeviceID, set[int]] = {}
        self.capacity = ConsumedCapacity()
        self.counters = allocator.counters.start()
        self.lookahead: Lookahead | None = None
        self.tried = 0
        self.may_overflow = False
        """Whether alternatives may ask for more devices than a result can hold: that cuts branches of its own."""

    def chosen_requests(self) -> list[list[Wanted]]:
        """For each claim the alternative of each request that was taken."""
        return [
            [alternatives[self.chosen.get((c, r), 0)] for r, alternatives in enumerate(requests)]
            for c, requests in enumerate(self.wanted)
        ]

    # What can be known before the search.

    def prepare(self) -> None:
        for number, claim in enumerate(self.claims):
            self.wanted.append([])
            least = 0
            for index, alternatives in enumerate(requests_of(claim)):
                self.wanted[number].append([])
                for place, request in enumerate(alternatives):
                    self.wanted[number][index].append(self.check(number, index, place, request))
                least += min(wanted.count for wanted in self.wanted[number][index])
            most = sum(max(one.count for one in alternatives) for alternatives in self.wanted[number])
            self.may_overflow = self.may_overflow or most > MOST_DEVICES
            if least > MOST_DEVICES:
                about = f"claim {key_of(claim)}: number of requested devices {least}"
                raise AllocationError(f"{about} exceeds the claim limit of {MOST_DEVICES}")
            constraints = read_constraints(claim)
            if isinstance(constraints, int):
                raise AllocationError(
                    f"claim {key_of(claim)}, constraint #{constraints}: empty constraint (unsupported constraint type?)"
                )
            self.constraints.append(constraints)

    def check(self, claim: int, index: int, place: int, request: DeviceRequest) -> Wanted:
        """A request with its class, and with its devices if it wants all of them."""
        about = f"claim {key_of(self.claims[claim])}, request {request.name}"
        if request.capacity and not self.allocator.state.has_shares:
            part = "subrequest" if request.parent else "request"
            text = "has capacity requests, but the DRAConsumableCapacity feature is disabled"
            raise AllocationError(f"claim {key_of(self.claims[claim])}, {part} {request.name}: {text}")
        for number, selector in enumerate(request.selectors):
            if selector.get("cel") is None:
                raise AllocationError(f"{about}, selector #{number}: CEL expression empty (unsupported selector type?)")
        if not request.device_class:
            raise AllocationError(f"{about}: missing device class name (unsupported request type?)")
        device_class = self.allocator.classes(request.device_class)
        if device_class is None:
            raise AllocationError(
                f"{about}: could not retrieve device class {request.device_class}: "
                f'deviceclass.resource.k8s.io "{request.device_class}" not found'
            )
        wanted = Wanted(request, device_class, request.count)
        if request.all_devices:
            wanted.candidates = self.all_devices(_Step(claim, index, place, wanted), about)
            wanted.count = len(wanted.candidates)
        elif request.mode != "ExactCount":
            raise AllocationError(f"{about}: unsupported count mode {request.mode}")
        return wanted

    def all_devices(self, step: _Step, about: str) -> list[Candidate]:
        found: list[Candidate] = []
        for pool in self.pools:
            if pool.is_incomplete or pool.is_invalid:
                state = "being updated" if pool.is_incomplete else "invalid"
                raise AllocationError(
                    f"{about}: asks for all devices, but resource pool {pool.text} is currently {state}"
                )
            found.extend(
                candidate
                for candidates in pool.candidates
                for candidate in candidates
                if self.is_selectable(step, candidate) and self.is_one_of_all(step, candidate)
            )
        return found

    # The search: claim, request, device. True as soon as everything is allocated.

    def claim(self, number: int) -> bool:
        return number >= len(self.claims) or self.request(number, 0)

    def request(self, claim: int, index: int) -> bool:
        if index >= len(self.wanted[claim]):
            return self.next_claim(claim)
        if self.tried > PATIENCE and not self.may_overflow:
            return self.request_ahead(claim, index)
        return self.alternatives(claim, index)

    def request_ahead(self, claim: int, index: int) -> bool:
        """The same in a long search: states that are known to fail are not tried again."""
        ahead = self.look_ahead()
        if ahead.is_hopeless(claim, index, self.is_free_for):
            return False
        here = ahead.state(claim, index, self.granted, self.constraints[claim])
        if here in ahead.failed:
            return False
        if self.alternatives(claim, index):
            return True
        ahead.failed.add(here)
        return False

    def look_ahead(self) -> Lookahead:
        if self.lookahead is None:
            devices = self.all_candidates()
            self.lookahead = Lookahead(
                self.wanted, self.constraints, self.selectable_devices, devices, self.allocator.state
            )
        return self.lookahead

    def is_hopeless(self, step: _Step) -> bool:
        """Whether a device just given to a request leaves too few for those that follow."""
        if self.tried <= PATIENCE or self.may_overflow:
            return False
        return self.look_ahead().is_hopeless(step.claim, step.request, self.is_free_for, begun=True)

    def alternatives(self, claim: int, index: int) -> bool:
        """Tries the alternatives of a request; an exact request is its only one."""
        alternatives = self.wanted[claim][index]
        if not alternatives[0].request.parent:
            return self.device(_Step(claim, index, 0, alternatives[0]), 0, START)
        only_too_many = True
        for place, wanted in enumerate(alternatives):
            try:
                done = self.device(_Step(claim, index, place, wanted), 0, START)
            except _TooMany:
                continue
            only_too_many = False
            if done:
                self.chosen[claim, index] = place
                return True
        if only_too_many:
            raise _TooMany
        return False

    def next_claim(self, claim: int) -> bool:
        try:
            return self.claim(claim + 1)
        except _TooMany:
            # Another allocation of this claim may leave the next one an alternative with fewer devices.
            return False

    def device(self, step: _Step, number: int, start: Location) -> bool:
        """Allocates the device with this number of a request, and all that follows."""
        wanted = step.wanted
        if wanted.request.all_devices and not wanted.candidates:
            return False
        if number >= wanted.count:
            return self.request(step.claim, step.request + 1)
        if len(self.granted[step.claim]) + wanted.count - number > MOST_DEVICES:
            raise _TooMany
        for candidate, following in self.candidates(step, number, start):
            undo = self.grant(step, candidate)
            if undo is None:
                continue
            try:
                if not self.is_hopeless(step) and self.device(step, number + 1, following):
                    return True
            except _TooMany:
                self.revoke(step, candidate, undo)
                raise
            self.revoke(step, candidate, undo)
        return False

    def candidates(self, step: _Step, number: int, start: Location) -> Iterator[tuple[Candidate, Location]]:
        """Devices to try, each with the place where the search for the next one goes on."""
        if step.wanted.request.all_devices:
            yield step.wanted.candidates[number], START
            return
        for p in range(start[0], len(self.pools)):
            if not self.is_usable(pool := self.pools[p]):
                continue
            for s in range(start[1] if p == start[0] else 0, len(pool.candidates)):
                found = pool.candidates[s]
                for d in range(start[2] if (p, s) == start[:2] else 0, len(found)):
                    candidate = found[d]
                    free = self.is_free(step, candidate.id)
                    if free and self.is_selectable(step, candidate) and self.has_capacity(step, candidate):
                        yield candidate, (p, s, d + 1)

    # Questions about one device.

    def is_free(self, step: _Step, device: DeviceID) -> bool:
        return self.is_free_for(step.claim, step.wanted.request.admin_access, device)

    def is_free_for(self, claim: int, is_admin: bool, device: DeviceID) -> bool:
        if is_admin:
            return claim not in self.taking.get(device, ())
        return device not in self.allocator.state.devices and not self.taking.get(device)

    def selectable_devices(self, claim: int, request: int, alternative: int) -> list[Candidate] | None:
        """All devices a request could get, were they free; None where asking about one of them would be an error."""
        step = _Step(claim, request, alternative, self.wanted[claim][request][alternative])
        wanted, taken = step.wanted.request, self.allocator.state.capacity
        try:
            return [
                candidate
                for candidate in self.all_candidates()
                if self.is_selectable(step, candidate)
                and wanted.tolerates(candidate.device)
                and fits(taken.get(candidate.id, NOTHING), wanted.capacity, candidate.device.capacity, NOTHING)
            ]
        except AllocationError:
            return None

    def is_usable(self, pool: Pool) -> bool:
        """Whether devices may come from a pool; AllocationError where the search ends at an invalid one."""
        if pool.is_invalid and pool.why:
            raise AllocationError(f"pool {pool.name} is invalid: {pool.why}")
        return not pool.is_invalid and not (pool.is_incomplete and self.allocator.rules.checks_pools)

    def all_candidates(self) -> Iterator[Candidate]:
        """All devices that can be allocated, in order."""
        for pool in filter(self.is_usable, self.pools):
            for candidates in pool.candidates:
                yield from candidates

    def is_one_of_all(self, step: _Step, candidate: Candidate) -> bool:
        """Whether a request for all devices asks for this one, by its capacity: what is left of it, or all of it."""
        if not self.allocator.rules.all_means_full_devices_too:
            return self.has_capacity(step, candidate)
        return fits(NOTHING, step.wanted.request.capacity, candidate.device.capacity, NOTHING)

    def has_capacity(self, step: _Step, candidate: Candidate) -> bool:
        taken = self.allocator.state.capacity.get(candidate.id, NOTHING)
        taking = self.capacity.get(candidate.id, NOTHING)
        return fits(taken, step.wanted.request.capacity, candidate.device.capacity, taking)

    def is_selectable(self, step: _Step, candidate: Candidate) -> bool:
        """Whether class and request select the device, and it is reachable from the node."""
        key = (candidate.id, step.claim, step.request, step.alternative)
        known = self.selectable.get(key)
        if known is None:
            wanted = step.wanted
            class_name = (wanted.device_class.get("metadata") or {}).get("name", "")
            known = (
                self.selected(candidate, _selectors(wanted.device_class), f"class {class_name}")
                and self.selected(candidate, wanted.request.selectors, f"claim {key_of(self.claims[step.claim])}")
                and (not candidate.slice.per_device or device_matches(self.node, candidate.device))
            )
            self.selectable[key] = known
        return known

    def selected(self, candidate: Candidate, selectors: Sequence[Document], about: str) -> bool:
        for number, selector in enumerate(selectors):
            try:
                if not candidate.device.matches((selector.get("cel") or {}).get("expression", "")):
                    return False
            except CelSyntaxError as problem:
                raise AllocationError(f"{about}: selector #{number}: CEL compile error: {problem}") from problem
            except CelError as problem:
                where, hint = "", ""
                if self.allocator.rules.explains_cel_errors:
                    where = f" on device {'/'.join(candidate.id)}"
                    hint = _HINT if "no such key:" in str(problem) else ""
                text = f"{about}: selector #{number}{where}: CEL runtime error: {problem}{hint}"
                raise AllocationError(text) from problem
        return True

    # Giving and taking back.

    def grant(self, step: _Step, candidate: Candidate) -> _Undo | None:
        """Allocates a device for the request, if it is free, untainted and satisfies the constraints."""
        self.tried += 1
        if self.tried > MOST_TRIED and self.allocator.gives_up:
            raise AllocationError(f"node {self.node.name}: timed out trying to allocate devices")
        request, device = step.wanted.request, candidate.device
        shares = device.allow_multiple
        if request.admin_access:
            if not shares and step.claim in self.taking.get(candidate.id, ()):
                return None
        elif not self.is_free(step, candidate.id):
            return None
        undo = _Undo()
        in_use = candidate.id in self.allocator.state.capacity or candidate.id in self.capacity
        if device.consumes and not (shares and in_use):
            if not self.allocator.inventory.has_partitions or not self.counters.reserve(candidate):
                return None
            undo.counters = True
        if not request.tolerates(device):
            self.revoke(step, candidate, undo, given=False)
            return None
        for constraint in self.constraints[step.claim]:
            if not constraint.add(step.base_name, step.sub_name, device):
                self.revoke(step, candidate, undo, given=False)
                if request.all_devices:
                    raise AllocationError(
                        f"claim {key_of(self.claims[step.claim])}, request {request.name}: cannot add device "
                        f"{show_device(candidate.id)} because a claim constraint would not be satisfied"
                    )
                return None
            undo.constraints += 1
        return self.take(step, candidate, undo)

    def take(self, step: _Step, candidate: Candidate, undo: _Undo) -> _Undo | None:
        """The last part of `grant`: marks the device or its capacity as taken."""
        request, device = step.wanted.request, candidate.device
        if not device.allow_multiple:
            self.taking.setdefault(candidate.id, set()).add(step.claim)
            undo.marked = True
        if not self.has_capacity(step, candidate):
            self.revoke(step, candidate, undo, given=False)
            return None
        if device.allow_multiple:
            undo.was_shared = candidate.id in self.capacity
            undo.consumed = consumed_by(request.capacity, device.capacity)
            self.capacity.insert(candidate.id, undo.consumed)
        self.granted[step.claim].append(Granted(request, candidate, undo.consumed))
        return undo

    def revoke(self, step: _Step, candidate: Candidate, undo: _Undo, given: bool = True) -> None:
        """Reverts the allocation of a device, in the opposite order."""
        if given:
            self.granted[step.claim].pop()
        if undo.consumed is not None:
            self.capacity.remove(candidate.id, undo.consumed)
            if undo.was_shared:
                self.capacity.setdefault(candidate.id, {})
        if undo.marked:
            self.taking[candidate.id].discard(step.claim)
        for constraint in reversed(self.constraints[step.claim][: undo.constraints]):
            constraint.remove(step.base_name, step.sub_name)
        if undo.counters:
            self.counters.release(candidate)


def _selectors(device_class: Document) -> Sequence[Document]:
    selectors: Sequence[Document] = (device_class.get("spec") or {}).get("selectors") or ()
    return selectors
