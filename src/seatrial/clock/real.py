"""Real time: the same clock against the wall, for `serve`.

Timers are kept as in virtual time; `run` sleeps until the next one is due and calls it, inner and outer ones, in
the order of (time, priority, sequence). Time never goes back, whatever happens to the wall clock: it is read
once, and from then on the monotonic clock counts.
"""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress

from seatrial.clock.virtual import Action, Clock, Timer
from seatrial.model.times import SECOND

BATCH = 64
"""Timers called before others get a turn on the event loop."""


class RealClock(Clock):
    """Time that passes by itself."""

    def __init__(self, start: int | None = None, monotonic: Callable[[], int] = time.monotonic_ns) -> None:
        super().__init__(time.time_ns() // 1_000 if start is None else start)
        self._monotonic = monotonic
        self._origin = self._now - monotonic() // 1_000
        self._changed: asyncio.Event | None = None

    def now(self) -> int:
        self.advance(self._origin + self._monotonic() // 1_000)
        return self._now

    def at(self, when: int, action: Action, *, priority: int = 0, outer: bool = False) -> Timer:
        timer = super().at(when, action, priority=priority, outer=outer)
        if self._changed is not None:
            self._changed.set()
        return timer

    def when_passing(self, when: int, action: Action) -> Timer:
        """A timer like any other: real time passes by itself."""
        return self.at(when, action, outer=True)

    def fire_due(self, most: int = BATCH) -> int:
        """Call the timers that are due, at most `most`; returns how many were called."""
        now, called = self.now(), 0
        while called < most and self._next_due() <= now and self.fire_next(outer=True):
            called += 1
        return called

    async def run(self) -> None:
        """Call timers as they come due, until cancelled."""
        self._changed = asyncio.Event()
        try:
            while True:
                if self.fire_due():
                    await asyncio.sleep(0)
                    continue
                self._changed.clear()
                due = self._next_due()
                delay = None if due == _NEVER else max(0.0, (due - self.now()) / SECOND)
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._changed.wait(), delay)
        finally:
            self._changed = None

    def _next_due(self) -> float:
        times = [when for when in (self.next_inner(), self.next_outer()) if when is not None]
        return min(times, default=_NEVER)


_NEVER = float("inf")
