"""A queue of keys that need work, as client-go's workqueue: a key waits once and is worked on once at a time."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from seatrial.model.errors import SeatrialError

RETRY, BLOCKED = 1.0, 10.0
"""Seconds until the next look where no event may come: at what is under way, and at what a user has to change."""
LONGEST_BACKOFF = 60.0

Key = TypeVar("Key")
log = logging.getLogger(__name__)


class WorkQueue(Generic[Key]):
    """Calls `work` for every key that was added; a number that it returns is the seconds until the next call."""

    def __init__(self, work: Callable[[Key], Awaitable[float | None]]) -> None:
        self._work = work
        self._ready: asyncio.Queue[Key] = asyncio.Queue()
        self._waiting: set[Key] = set()
        self._processing: set[Key] = set()
        self._failures: dict[Key, int] = {}
        self._timers: dict[Key, asyncio.TimerHandle] = {}

    def add(self, key: Key) -> None:
        """Ask for work on a key, now or as soon as the work on it that is under way has ended."""
        if key not in self._waiting:
            self._waiting.add(key)
            if key not in self._processing:
                self._ready.put_nowait(key)

    def add_after(self, key: Key, seconds: float) -> None:
        """Ask for work on a key later; of several times the earliest counts."""
        loop = asyncio.get_running_loop()
        timer = self._timers.get(key)
        if timer is not None and not timer.cancelled():
            if timer.when() <= loop.time() + seconds:
                return
            timer.cancel()
        self._timers[key] = loop.call_later(seconds, self._elapsed, key)

    async def serve(self) -> None:
        """Work until cancelled; several of these share the queue."""
        while True:
            key = await self._ready.get()
            self._waiting.discard(key)
            self._processing.add(key)
            try:
                again = await self._work(key)
                self._failures.pop(key, None)
            except SeatrialError as error:
                again = self._backoff(key)
                log.warning("%s: %s; trying again in %g s", key, error, again)
            finally:
                self._processing.discard(key)
                if key in self._waiting:
                    self._ready.put_nowait(key)
            if again is not None:
                self.add_after(key, again)

    def close(self) -> None:
        """Forget what is to be done later."""
        for timer in self._timers.values():
            timer.cancel()

    def _elapsed(self, key: Key) -> None:
        del self._timers[key]
        self.add(key)

    def _backoff(self, key: Key) -> float:
        failures = self._failures[key] = self._failures.get(key, 0) + 1
        return float(min(0.1 * 2**failures, LONGEST_BACKOFF))
