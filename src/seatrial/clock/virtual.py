"""Virtual time: a heap of (time, priority, sequence) that costs nothing without timers.

An instant is whole microseconds since 1970 (see `model.times`). *Inner* timers always run out inside a step,
*outer* ones only when the scenario lets that much time pass; so a caller asks for the next timer of either sort.
What is to be done *when time passes* an instant is no timer: no clock jumps there for its sake.
"""

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

START = 1_893_456_000_000_000
"""2030-01-01T00:00:00Z, where every simulated run begins."""
END = 253_402_300_799_000_000
"""9999-12-31T23:59:59Z, the last second that a time of Kubernetes can be."""

Action = Callable[[], None]


@dataclass(slots=True, order=True)
class Timer:
    """Something that is due at an instant, unless it is cancelled before."""

    when: int
    priority: int
    sequence: int
    action: Action = field(compare=False)
    outer: bool = field(compare=False)
    cancelled: bool = field(default=False, compare=False)

    def cancel(self) -> None:
        self.cancelled = True


class Clock:
    """Time that moves only when it is advanced."""

    def __init__(self, start: int = START) -> None:
        self._now = start
        self.simulated_until = 0
        """When the latest simulation ended, in its own time."""
        self._sequence = count()
        self._inner: list[Timer] = []
        self._outer: list[Timer] = []
        self._passing: list[Timer] = []

    def now(self) -> int:
        return self._now

    def at(self, when: int, action: Action, *, priority: int = 0, outer: bool = False) -> Timer:
        """Call `action` when the clock reaches `when` (at once due if that is past, never if it is after the end)."""
        timer = Timer(max(when, self._now), priority, next(self._sequence), action, outer)
        if when > END:
            return timer
        heapq.heappush(self._outer if outer else self._inner, timer)
        return timer

    def after(self, delay: int, action: Action, *, priority: int = 0, outer: bool = False) -> Timer:
        return self.at(self.now() + delay, action, priority=priority, outer=outer)

    def when_passing(self, when: int, action: Action) -> Timer:
        """Call `action` when the clock moves to `when` or beyond, for whatever reason it does."""
        timer = Timer(when, 0, next(self._sequence), action, outer=True)
        heapq.heappush(self._passing, timer)
        return timer

    def next_inner(self) -> int | None:
        """When the next inner timer is due; None without one."""
        return self._due(self._inner)

    def next_outer(self) -> int | None:
        """When the next outer timer is due; None without one."""
        return self._due(self._outer)

    def last_outer(self) -> int | None:
        """When the last of all outer timers is due; None without one."""
        return max((timer.when for timer in self._outer if not timer.cancelled), default=None)

    def advance(self, until: int) -> None:
        """Move to `until`; no timer fires. Time never goes back."""
        while (due := self._due(self._passing)) is not None and due <= until:
            self._now = max(self._now, due)
            heapq.heappop(self._passing).action()
        self._now = max(self._now, until)

    def fire_next(self, *, outer: bool) -> bool:
        """Jump to the earliest timer (outer ones too if asked) and call it; False if no timer is set."""
        candidates = [heap for heap in ((self._inner, self._outer) if outer else (self._inner,)) if self._due(heap)]
        if not candidates:
            return False
        timer = heapq.heappop(min(candidates, key=lambda heap: heap[0]))
        self.advance(timer.when)
        timer.action()
        return True

    @staticmethod
    def _due(heap: list[Timer]) -> int | None:
        while heap and heap[0].cancelled:
            heapq.heappop(heap)
        return heap[0].when if heap else None
