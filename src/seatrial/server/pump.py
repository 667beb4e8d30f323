"""Real time for cooperative workers: controllers and schedulers work on the server's own loop, in small slices.

A slice is short, so that a request never waits long; between two slices everything else gets its turn. When nobody
has work the pump sleeps until a write or the next timer.
"""

import asyncio
import time
from collections.abc import Sequence
from typing import Protocol

from seatrial.clock.real import RealClock
from seatrial.model.times import SECOND
from seatrial.store.objects import Change
from seatrial.store.store import Store

SLICE = 0.005
"""Seconds of work before requests get their turn."""
LONGEST_SLEEP = 1.0


class Worker(Protocol):
    """Something that reacts to the store from a queue of its own."""

    def has_work(self) -> bool:
        """Whether `work` would do something now."""

    def work(self) -> bool:
        """Do one piece of work; True if there was one."""


class Pump:
    """Keeps workers going."""

    def __init__(self, store: Store, clock: RealClock, workers: Sequence[Worker]) -> None:
        self._clock = clock
        self._workers = tuple(workers)
        self._wake = asyncio.Event()
        self._unsubscribe = store.subscribe(self._notice)

    async def run(self) -> None:
        """Work until cancelled."""
        try:
            while True:
                if not self._work_a_slice():
                    await self._sleep()
                else:
                    await asyncio.sleep(0)
        finally:
            self._unsubscribe()

    def _work_a_slice(self) -> bool:
        """Work in turns until the slice is over; False if nobody had any."""
        end = time.monotonic() + SLICE
        worked = False
        while time.monotonic() < end:
            busy = self._clock.fire_due()
            for worker in self._workers:
                if worker.has_work():
                    busy = worker.work() or busy
            if not busy:
                return worked
            worked = True
        return worked

    async def _sleep(self) -> None:
        self._wake.clear()
        due = [when for when in (self._clock.next_inner(), self._clock.next_outer()) if when is not None]
        seconds = min(LONGEST_SLEEP, max(0.0, (min(due) - self._clock.now()) / SECOND)) if due else LONGEST_SLEEP
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            return

    def _notice(self, change: Change) -> None:
        self._wake.set()
