"""An outside controller as the engine drives it: one loop of a turn is one operation, or the finding that it is idle.

`work` opens the gate and returns. The turn ends when an operation was carried out, or when the program is known to
have nothing more to do; then the caller is woken. A program that fails, or shows no progress in time, fails the
scenario with a message that says what it was waited for.
"""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from seatrial.model.errors import ScenarioError
from seatrial.outside.configuration import OutsideController
from seatrial.outside.idle import FOR_AN_EVENT, Changes, Idle, Taken
from seatrial.outside.order import Order
from seatrial.outside.pods import Key, PendingPods
from seatrial.outside.program import Program
from seatrial.outside.requests import Sort
from seatrial.outside.scheduling import Scheduling
from seatrial.outside.session import Phase, Session
from seatrial.outside.startup import Startup
from seatrial.scenario.spec.kind import SCENARIO
from seatrial.server import Target
from seatrial.server.messages import Request
from seatrial.store import Change
from seatrial.timeline.writes import QUIET_KINDS

if TYPE_CHECKING:
    from seatrial.store import Store


REMINDER = 5.0
"""Seconds without progress after which the pods without a verdict are sent again."""


def _call_soon(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
    """Call something on the loop from another thread, unless the loop has ended."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(call)


@dataclass(slots=True)
class Parts:
    """What a participant is put together from."""

    controller: OutsideController
    session: Session
    store: "Store"
    idle: Idle
    startup: Startup
    pods: PendingPods | None
    scheduling: Scheduling | None
    one_by_one: bool
    """Whether an operation ends the turn: the controller is simulated and does not say where its loop ends."""
    wake: Callable[[], None]
    launch: Callable[[Callable[[], None]], Program] | None
    stopped: Callable[[Program], None]
    """Given a program that was asked to end."""
    note: Callable[[str], None]
    """Sets the note about this controller in the message of the scenario; an empty text removes it."""


class OutsideParticipant:
    """One outside controller in a scenario."""

    def __init__(self, parts: Parts) -> None:
        self.name = parts.controller.name
        self._parts = parts
        self._session = parts.session
        self._program: Program | None = None
        self._failure = ""
        self._is_ready = self._is_open = self._has_operated = self._has_written = False
        self._deadline: asyncio.TimerHandle | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._reminder: asyncio.TimerHandle | None = None
        self._reports = 0
        self._cooperates = self._is_told = False
        self._turn: asyncio.Future[None] | None = None
        """Done when a turn begins or ends; None while no scenario is played."""
        self._unsubscribe: Callable[[], None] | None = None
        self.cpu_seconds: float | None = None
        """Of the process, once it was stopped; None where it is not known."""

    @property
    def decision_seconds(self) -> Sequence[float]:
        """Real time of a scheduler from the release of each pod to its verdict."""
        return self._parts.scheduling.decision_seconds if self._parts.scheduling is not None else ()

    # -- as the engine sees it -----------------------------------------------------------------------------------------

    def start(self) -> None:
        session = self._session
        self._turn = asyncio.get_running_loop().create_future()
        self._unsubscribe = self._parts.store.subscribe(self._notice)
        session.changed, session.passing, session.left = self._judge, self._passing, self._left
        session.move_to(Phase.STARTING)
        self._progress()
        if self._parts.launch is not None:
            self._program = self._parts.launch(partial(_call_soon, asyncio.get_running_loop(), self._ended))

    def stop(self) -> None:
        self._cancel()
        self._is_open = False
        self._tell_turn()
        self._turn = None
        if self._unsubscribe is not None:
            self._unsubscribe()
        if self._parts.pods is not None:
            self._parts.pods.close()
        if self._parts.scheduling is not None:
            self._parts.scheduling.close()
        self._session.changed = lambda: None
        self._session.passing = lambda request, target, arrived: None
        self._session.left = lambda request, target, sort: None
        self._session.use_order(None)
        self._session.flushes = False
        if self._program is not None:
            self.cpu_seconds = self._program.cpu_seconds()
            self._program.stop()
            self._parts.stopped(self._program)
            self._program = None
        self._session.move_to(Phase.FREE)

    def is_ready(self) -> bool:
        self._check()
        return self._is_ready

    def is_waiting(self) -> bool:
        self._check()
        return self._is_open

    def has_work(self) -> bool:
        self._check()
        return not self._is_open and (self._session.has_writes or self._parts.idle.has_work())

    def work(self) -> bool:
        self._is_open, self._has_operated, self._reports = True, False, 0
        self._parts.idle.begin()
        self._progress()
        self._is_told = False
        self._session.move_to(Phase.OPEN)
        return True

    def _tell_turn(self) -> None:
        """Wake those that wait for the beginning or the end of a turn."""
        ended, self._turn = self._turn, asyncio.get_running_loop().create_future()
        if ended is not None and not ended.done():
            ended.set_result(None)

    # -- the turn ------------------------------------------------------------------------------------------------------

    def loop_ended(self) -> None:
        """A controller that cooperates has come to the end of its loop: everything in a loop is one minor step."""
        if not self._cooperates:
            self._cooperates = True
            self._session.use_order(None)
        if not self._is_open or self._session.phase is not Phase.OPEN:
            return
        # A loop without an operation is a sign of life: the quiet window starts again.
        self._session.activity += 1
        if self._has_operated:
            self._end()

    async def take(self, pod: Key) -> None:
        """Wait until a scheduler that cooperates may try a pod."""
        while (turn := self._turn) is not None:
            if self._is_open and self._session.phase is Phase.OPEN:
                if self._may_take(pod):
                    return
                self._rest()
            await asyncio.shield(turn)

    def _may_take(self, pod: Key) -> bool:
        parts = self._parts
        if parts.pods is None or parts.scheduling is None:
            return True
        if not isinstance(parts.idle, Taken):
            parts.idle = Taken(self._session, parts.pods, parts.controller.quiet_seconds)
            parts.idle.begin()
            self._session.use_order(Order(None))
        if not parts.idle.take(pod):
            return False
        if parts.scheduling.took(pod):
            self._progress()
        self._judge()
        return True

    def _judge(self) -> None:
        if self._failure or (self._is_ready and not self._is_open):
            return
        if self._session.phase is Phase.OPEN and not self._is_told:
            self._is_told = True
            self._tell_turn()
            if self._parts.scheduling is not None:
                self._parts.scheduling.released()
        if not self._is_ready:
            self._judge_startup()
        elif self._has_operated and self._parts.one_by_one:
            if not self._session.is_in_flight and not self._cooperates:
                self._end()
        elif self._session.phase is Phase.OPEN and not self._session.is_in_flight and not self._session.has_writes:
            self._judge_idle()

    def _judge_startup(self) -> None:
        left = self._parts.startup.wait()
        if left is None:
            self._is_ready = True
            self._cancel()
            self._session.move_to(Phase.CLOSED)
            self._parts.wake()
        elif left != FOR_AN_EVENT:
            self._ask_again(left)

    def _judge_idle(self) -> None:
        try:
            left = self._parts.idle.wait()
        except ScenarioError as error:
            self._fail(error.why)
            return
        if left is None:
            self._rest()
        elif left != FOR_AN_EVENT:
            self._ask_again(left)

    def _rest(self) -> None:
        """The program has nothing more to do in this state of the cluster."""
        if isinstance(self._parts.idle, Changes):
            self._parts.idle.is_rested = True
        self._end()

    def _end(self) -> None:
        self._is_open = False
        if not self._has_written:
            self._parts.note(f"outside controller {self.name} wrote nothing in any turn")
        self._cancel()
        self._session.move_to(Phase.CLOSED)
        self._tell_turn()
        self._parts.wake()

    def _passing(self, request: Request, target: Target, arrived: float) -> None:
        if self._parts.scheduling is not None:
            self._parts.scheduling.passing(request, target, arrived)

    def _left(self, request: Request, target: Target, sort: Sort) -> None:
        if not self._has_written:
            self._has_written = True
            self._parts.note("")
        if sort is Sort.OPERATION:
            self._has_operated = True
            self._progress()
        else:
            self._reports += 1
        if sort is Sort.OPERATION and isinstance(self._parts.idle, Taken):
            self._parts.idle.change()
        if self._parts.scheduling is not None and self._parts.scheduling.left(target):
            self._progress()

    def _notice(self, change: Change) -> None:
        kind = change.stored.kind.group_kind
        if kind == SCENARIO.group_kind or kind in QUIET_KINDS:
            return
        self._session.watches.note(change)
        if change.writer == self.name:
            return
        if isinstance(self._parts.idle, Changes):
            self._parts.idle.is_rested = False
        if self._parts.scheduling is not None:
            self._parts.scheduling.note(change)

    # -- failing -------------------------------------------------------------------------------------------------------

    def _check(self) -> None:
        if self._failure:
            raise ScenarioError("", self._failure)

    def _fail(self, why: str) -> None:
        if not self._failure:
            self._failure = f"outside controller {self.name} {why}"
            self._cancel()
            self._parts.wake()

    def _ended(self) -> None:
        if self._program is not None:
            self._fail(self._program.outcome())

    def _progress(self) -> None:
        """The program has done something: it gets its whole time again."""
        if self._deadline is not None:
            self._deadline.cancel()
        seconds = self._parts.controller.timeout_seconds
        loop = asyncio.get_running_loop()
        self._deadline = loop.call_later(seconds, self._late)
        if self._parts.scheduling is not None:
            if self._reminder is not None:
                self._reminder.cancel()
            self._reminder = loop.call_later(min(REMINDER, seconds / 2), self._parts.scheduling.resend)

    def _late(self) -> None:
        seconds = self._parts.controller.timeout_seconds
        if not self._is_ready:
            self._fail(f"did not come up within {seconds:g} s: {self._parts.startup.doing()}{self._said()}")
            return
        reports = f"; it made {self._reports} status writes meanwhile" if self._reports else ""
        self._fail(f"showed no progress within {seconds:g} s: {self._parts.idle.doing()}{reports}{self._said()}")

    def _said(self) -> str:
        said = self._program.last_lines() if self._program is not None else ""
        return f"; its last output: {said}" if said else ""

    def _ask_again(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(seconds, self._judge)

    def _cancel(self) -> None:
        for timer in (self._deadline, self._timer, self._reminder):
            if timer is not None:
                timer.cancel()
        self._deadline = self._timer = self._reminder = None


class OutsideScheduler(OutsideParticipant):
    """An outside scheduler: the engine may have it look at everything pending once more."""

    def sweep(self) -> None:
        """Have the program look at every pending pod once more: each goes and comes back on its watches."""
        assert self._parts.scheduling is not None
        self._parts.scheduling.sweep()
        if isinstance(self._parts.idle, Taken):
            self._parts.idle.change()
