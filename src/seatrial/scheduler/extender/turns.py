"""Two threads that take turns: a caller that must not wait, and work that sometimes waits for an extender.

Only one of the two runs at a time, so that nothing they share needs a lock. While the work waits for an answer from
outside the caller goes on; it asks again when the answer is there.
"""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from seatrial.scheduler.config import Extender
from seatrial.scheduler.extender.extender import Transport

if TYPE_CHECKING:
    from seatrial.scheduler import Decision, Scheduler
    from seatrial.scheduler.cache.event_handlers import EventHandlers

T = TypeVar("T")
BRIEF = 0.01
"""Seconds that the caller waits for an answer before it goes on: most extenders answer within them."""


class AwaitingAnswer:
    """The work is waiting for an answer from outside."""


WAITING = AwaitingAnswer()


class Abandoned(BaseException):
    """The result of the work is no longer needed; no `except Exception` stops it."""


class Turns:
    """Runs one piece of work after the other on a thread of its own."""

    def __init__(self) -> None:
        self.on_answer: Callable[[], None] = lambda: None
        """Called on the thread of the work when an answer is there and the caller may run it again."""
        self.is_waiting = False
        self._go, self._back = threading.Semaphore(0), threading.Semaphore(0)
        self._answered = threading.Event()
        self._work: Callable[[], Any] | None = None
        self._result: Any = None
        self._error: BaseException | None = None
        self._is_abandoned = False
        self._thread: threading.Thread | None = None

    @property
    def can_go_on(self) -> bool:
        """Whether the work that waits has its answer."""
        return self.is_waiting and self._answered.is_set()

    def run(self, work: Callable[[], T]) -> T | AwaitingAnswer:
        """Do the work, or go on with what is waiting; its result, or WAITING."""
        if not self.is_waiting:
            self._work, self._is_abandoned = work, False
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="extender-turns", daemon=True)
            self._thread.start()
        while True:
            self._go.release()
            self._back.acquire()
            if not self.is_waiting:
                break
            if not self._answered.wait(BRIEF):
                return WAITING
        error, self._error = self._error, None
        if error is not None:
            raise error
        result: T = self._result
        return result

    def abandon(self) -> None:
        """End the work that waits where it is, as soon as its answer is there."""
        self._is_abandoned = True

    def outside(self, call: Callable[[], T]) -> T:
        """Make a call that may take long; called by the work, which gives its turn away meanwhile."""
        if threading.current_thread() is not self._thread:
            return call()
        self._answered.clear()
        self.is_waiting = True
        self._back.release()
        try:
            return call()
        finally:
            self._answered.set()
            self.on_answer()
            self._go.acquire()
            self.is_waiting = False
            if self._is_abandoned:
                raise Abandoned

    def _run(self) -> None:
        while True:
            self._go.acquire()
            assert self._work is not None
            try:
                self._result = self._work()
            except BaseException as error:  # noqa: BLE001  the caller raises it
                self._error = error
            self._back.release()


class TurnTransport:
    """A transport whose calls give the turn away."""

    def __init__(self, transport: Transport, turns: Turns) -> None:
        self._transport, self._turns = transport, turns

    def post(self, extender: Extender, url: str, body: bytes, timeout: int) -> tuple[int, bytes]:
        """Status code and body of the answer."""
        return self._turns.outside(lambda: self._transport.post(extender, url, body, timeout))

    def close(self) -> None:
        close = getattr(self._transport, "close", None)
        if close is not None:
            close()


class InterruptibleAttempts:
    """Scheduling attempts that give their turn away while an extender works; changes of the cluster wait for their end.

    An attempt of a scheduler that was stopped meanwhile is abandoned.
    """

    def __init__(self, turns: Turns) -> None:
        self.turns = turns
        self._watcher: EventHandlers | None = None
        """The picture of the cluster that the attempt under way sees."""

    def waits_for(self, scheduler: "Scheduler") -> bool:
        """Whether an attempt of this scheduler waits."""
        return self.turns.is_waiting and self._watcher is scheduler.watcher

    def run(
        self, scheduler: "Scheduler", attempt: "Callable[[], Decision | None]"
    ) -> "Decision | AwaitingAnswer | None":
        """Make an attempt, or go on with the one that waits."""
        if not self.turns.is_waiting:
            self._watcher = scheduler.watcher
            self._watcher.hold()
        elif self._watcher is not scheduler.watcher:
            self.turns.abandon()
        try:
            return self.turns.run(attempt)
        except Abandoned:
            return None
        finally:
            if not self.turns.is_waiting and self._watcher is not None:
                self._watcher.release()
                self._watcher = None
