"""One outside controller at the gate: what of its requests and watches passes in which phase of the scenario.

| phase | reads | watches | reports | operations |
| --- | --- | --- | --- | --- |
| FREE: no scenario with it | pass | pass | pass | pass |
| STARTING: it gets to know the cluster | pass | pass | wait | wait |
| CLOSED: another phase of the scenario | wait | wait | wait | wait |
| FLUSHING: its turn begins | pass | all but pods | pass | wait |
| OPEN: its turn | pass | pass | pass | one, or all |

Leases and events pass at any time.
"""

import asyncio
import time
from collections.abc import Callable
from enum import Enum

from seatrial.outside.order import Order
from seatrial.outside.requests import Held, HeldRequests, Sort, sort_of
from seatrial.outside.watches import PATIENCE, PODS, WatchSet
from seatrial.server import Target
from seatrial.server.extension_points import OpenWatch
from seatrial.server.messages import Request


class Phase(Enum):
    """How far the gate is open."""

    FREE = "free"
    STARTING = "starting"
    CLOSED = "closed"
    FLUSHING = "flushing"
    OPEN = "open"


_READS = (Phase.FREE, Phase.STARTING, Phase.FLUSHING, Phase.OPEN)
_REPORTS = (Phase.FREE, Phase.FLUSHING, Phase.OPEN)


class Session:
    """The requests and watches of one controller.

    `changed` is called after everything that may end a turn; `passing` just before a held request is carried out.
    """

    def __init__(self) -> None:
        self.phase = Phase.FREE
        self.order: Order | None = None
        self.changed: Callable[[], None] = lambda: None
        self.passing: Callable[[Request, Target, float], None] = lambda request, target, arrived: None
        self.left: Callable[[Request, Target, Sort], None] = lambda request, target, sort: None
        self.waiting = HeldRequests()
        self.watches = WatchSet(self._stir)
        self.activity = 0
        """Counts writes and other signs that the program is at work; reading is none, as some programs poll."""
        self.reads = 0
        self.kinds_read: set[tuple[str, str]] = set()
        self.flushes = False
        """Whether a turn begins with everything but pods, which are sent when the rest was acknowledged."""
        self._is_settling = False
        self._unordered: dict[int, Held] = {}
        """Requests that wait for a phase, not for their place in the order."""
        self._admitted: dict[int, Sort] = {}
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_in_flight(self) -> bool:
        """Whether a request that was let through is still being carried out."""
        return bool(self._admitted)

    @property
    def has_writes(self) -> bool:
        """Whether a write waits for the controller's turn."""
        return any(held.sort is not Sort.READ for held in self.waiting)

    def move_to(self, phase: Phase) -> None:
        """Open or close the gate."""
        self._cancel_timer()
        self.phase = phase
        self._is_settling = False
        if phase is Phase.OPEN and self.flushes:
            self.phase = Phase.FLUSHING
            if self.watches.begin_flush():
                self._after(PATIENCE, self._flushed)
            else:
                self.phase = Phase.OPEN
        self._apply()

    def use_order(self, order: Order | None) -> None:
        """Choose from now on which operation is next; None: they pass together. What waits already is taken over."""
        self.order = order
        self._unordered.clear()
        for held in self.waiting:
            self._register(held)

    async def enter(self, request: Request, target: Target) -> None:
        """Wait until a request may be carried out."""
        sort = sort_of(request, target)
        if sort is Sort.BESIDE or self.phase is Phase.FREE:
            return
        if sort is Sort.READ:
            self.reads += 1
            self.kinds_read.add(target.kind.group_kind)
        else:
            self.activity += 1
        arrived = time.monotonic()
        while not self._passes_at_once(held := Held(request, target, sort, arrived)):
            self.waiting.add(held)
            self._register(held)
            self._stir()
            try:
                await self.waiting.wait(held)
            finally:
                self._unordered.pop(id(held), None)
            if id(request) in self._admitted:
                break
        if sort is not Sort.READ:
            self._admitted[id(request)] = sort
            self.passing(request, target, arrived)

    def leave(self, request: Request, target: Target) -> None:
        """A request was carried out, refused or given up."""
        sort = self._admitted.pop(id(request), None)
        if sort is not None:
            self.left(request, target, sort)
        self._stir()

    def watch(self, request: Request, watch: OpenWatch) -> None:
        self.watches.add(request, watch)

    def _passes_at_once(self, held: Held) -> bool:
        if self.phase is Phase.FREE:
            return True
        if held.sort is Sort.READ:
            return self.phase in _READS
        if self._is_ordered(held):
            return False
        return self.phase in (_REPORTS if held.sort is Sort.REPORT else (Phase.OPEN,))

    def _register(self, held: Held) -> None:
        if self.order is not None and self._is_ordered(held):
            self.order.add(held)
        else:
            self._unordered[id(held)] = held

    def _is_ordered(self, held: Held) -> bool:
        """Whether a request waits until it is chosen: an operation, or a verdict on a pod."""
        if self.order is None or held.sort is Sort.READ:
            return False
        return held.sort is Sort.OPERATION or held.pod is not None

    def _apply(self) -> None:
        """Let pass what the phase allows."""
        delivers = self.phase in _READS
        flushing = self.phase is Phase.FLUSHING
        self.watches.let_pass(lambda kind: delivers and not (flushing and kind == PODS))
        self._stir()

    def _stir(self) -> None:
        """Something has changed: let requests pass, end the flush, judge the turn."""
        if self.phase is Phase.FLUSHING and self.watches.is_flushed and not self._is_settling:
            self._is_settling = True
            self._after(self.watches.margin, self._flushed)
        for held in tuple(self._unordered.values()):
            if self._passes_at_once(held):
                held.let_pass()
        # Whether the turn is over is judged before another operation is let through in it.
        self.changed()
        self._admit_next()

    def _admit_next(self) -> None:
        if self.phase is not Phase.OPEN or self.order is None or self._admitted:
            return
        chosen, delay = self.order.next()
        for held in chosen:
            self._admitted[id(held.request)] = held.sort
            held.let_pass()
        if delay is not None:
            self._after(delay, self._stir)

    def _flushed(self) -> None:
        self._cancel_timer()
        if self.phase is Phase.FLUSHING:
            self.watches.end_flush()
            self.phase = Phase.OPEN
            self._apply()

    def _after(self, seconds: float, call: Callable[[], None]) -> None:
        self._cancel_timer()
        self._timer = asyncio.get_running_loop().call_later(seconds, call)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
