"""Real time for cooperative workers: controllers and schedulers work on the server's own loop, in small slices.

A slice is short, so that a request never waits long; between two slices requests are served. When no worker
has work, the loop sleeps until a write or the next timer. A worker that raises is logged and retried after a pause;
the others continue.

Workers rest while the store writes to disk. Its thread gives up the interpreter after each row and then waits for a
busy one as long as for a whole slice: workers that write more than that would never be caught up with, and every
request waits until what it may show is on disk.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from seatrial.clock import RealClock
from seatrial.model.cel import Allowance, within
from seatrial.model.errors import StorageFailed
from seatrial.model.times import SECOND
from seatrial.store import Change, Store

SLICE = 0.005
"""Seconds of work before requests get their turn."""
LONGEST_SLEEP = 1.0
LONGEST_PAUSE = 0.02
"""Seconds that workers pause at most after a piece of work that was longer than a slice."""
REST = 0.1
"""Seconds a worker rests after it has raised."""
ERRORS_KEPT = 1024
ALLOWED = 200_000
"""What one piece of work may spend on expressions of users, such as selectors of devices, in units of CEL."""

log = logging.getLogger("seatrial.server")


class Worker(Protocol):
    """Something that reacts to the store from a queue of its own."""

    def has_work(self) -> bool:
        """Whether `work` would do something now."""

    def work(self) -> bool:
        """Do one piece of work; True if there was one."""


@runtime_checkable
class Awakened(Protocol):
    """A worker that gets work from outside the store, on another thread."""

    def wake_by(self, wake: Callable[[], object]) -> None:
        """`wake` is called when there is work."""


class WorkerLoop:
    """Keeps workers going."""

    def __init__(self, store: Store, clock: RealClock, workers: Sequence[Worker]) -> None:
        self._store, self._clock = store, clock
        self._workers = tuple(workers)
        self._resting: dict[int, float] = {}
        self._logged: set[str] = set()
        self._turn = 0
        self._task: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()
        self._unsubscribe = store.subscribe(self._notice)

    def start(self) -> asyncio.Task[None]:
        """Work concurrently with requests until the task is cancelled."""
        self._task = asyncio.ensure_future(self.run())
        self._task.add_done_callback(self._tell_end)
        return self._task

    def wake(self) -> None:
        """A worker has work that no write has brought."""
        self._wake.set()

    @property
    def is_alive(self) -> bool:
        """Whether the workers of a pump that was started are still kept going."""
        return self._task is not None and not self._task.done()

    async def run(self) -> None:
        """Work until cancelled."""
        loop = asyncio.get_running_loop()
        for worker in self._workers:
            if isinstance(worker, Awakened):
                worker.wake_by(lambda: loop.call_soon_threadsafe(self._wake.set))
        try:
            while True:
                start = time.monotonic()
                if not self._work_a_slice():
                    await self._sleep()
                else:
                    # Requests that arrived during a long piece of work take several turns of the loop to be answered.
                    await asyncio.sleep(min(LONGEST_PAUSE, max(0.0, time.monotonic() - start - 2 * SLICE)))
                    await self._store.written()
        finally:
            self._unsubscribe()

    def _work_a_slice(self) -> bool:
        """Work round-robin until the slice is over; False if no worker had work.

        The next slice goes on with the worker after the last one: a piece of work may be longer than a slice, and two
        such pieces must not follow each other without requests in between.
        """
        end = time.monotonic() + SLICE
        idle, worked = 0, False
        while idle <= len(self._workers) and (not worked or time.monotonic() < end):
            if self._turn == len(self._workers):
                busy = self._guarded("timer", lambda: self._clock.fire_due() > 0)
            else:
                busy = self._work(self._workers[self._turn])
            self._turn = (self._turn + 1) % (len(self._workers) + 1)
            idle = 0 if busy else idle + 1
            worked = worked or busy
        return worked

    def _work(self, worker: Worker) -> bool:
        """Let one worker do a piece of work, unless it rests."""
        if self._resting and self._resting.get(id(worker), 0.0) > time.monotonic():
            return False
        self._resting.pop(id(worker), None)
        return self._guarded(worker, lambda: worker.has_work() and _bounded(worker))

    def _guarded(self, worker: Worker | str, work: Callable[[], bool]) -> bool:
        """Work; an error is logged once and suspends the worker for a while."""
        try:
            return work()
        except StorageFailed:
            # The store takes no more writes, and the server that owns it is about to end.
            return False
        except Exception as error:
            name = worker if isinstance(worker, str) else getattr(worker, "name", type(worker).__name__)
            text = f"{name}: {type(error).__name__}: {error}"
            if text not in self._logged and len(self._logged) < ERRORS_KEPT:
                self._logged.add(text)
                log.exception("%s", text)
            if not isinstance(worker, str):
                self._resting[id(worker)] = time.monotonic() + REST
            return False

    def _tell_end(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("controllers and scheduler have stopped", exc_info=error)

    async def _sleep(self) -> None:
        self._wake.clear()
        due = [when for when in (self._clock.next_inner(), self._clock.next_outer()) if when is not None]
        longest = REST if self._resting else LONGEST_SLEEP
        seconds = min(longest, max(0.0, (min(due) - self._clock.now()) / SECOND)) if due else longest
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            return

    def _notice(self, change: Change) -> None:
        self.wake()


def _bounded(worker: Worker) -> bool:
    with within(Allowance(ALLOWED)):
        return worker.work()
