"""The backoff queue: how long a pod waits after a failed attempt.

Ordinary backoff only orders pods: they are popped as soon as nothing is active, whether it has run out or not. Pods
that failed with an error wait it out. Expiry is cut to windows of one second, in which QueueSort decides.
With SchedulerPopFromBackoffQ off all pods wait, and no time is cut.

Upstream: pkg/scheduler/backend/queue/backoff_queue.go (v1.36.3).
"""

from collections.abc import Iterator
from typing import Any

from seatrial.clock import Clock
from seatrial.model.times import SECOND
from seatrial.scheduler.queue.heap import Order, PodHeap
from seatrial.scheduler.queue.queued_pod_info import QueuedPod

WINDOW = SECOND


class BackoffQueue:
    """Pods in backoff; those that failed with an error are kept apart from the others."""

    def __init__(self, clock: Clock, initial: int, longest: int, order: Order, *, pops_early: bool = True) -> None:
        self._clock, self._initial, self._longest, self._order = clock, initial, longest, order
        self._pops_early = pops_early
        self._started = clock.now()
        self.ordinary = PodHeap(self._by_window if pops_early else self._by_expiry)
        self.after_error = PodHeap(self._by_expiry)
        self._flushed: int | None = None
        """The window in which no pod is left whose backoff has expired."""

    def __contains__(self, key: str) -> bool:
        return key in self.ordinary.present or key in self.after_error.present

    def __bool__(self) -> bool:
        return bool(self.ordinary.present or self.after_error.present)

    def __iter__(self) -> Iterator[QueuedPod]:
        yield from self.ordinary
        yield from self.after_error

    def get(self, key: str) -> QueuedPod | None:
        return self.ordinary.get(key) or self.after_error.get(key)

    def add(self, queued: QueuedPod) -> None:
        self._flushed = None
        (self.ordinary if queued.rejectors else self.after_error).push(queued)

    def reorder(self, queued: QueuedPod) -> None:
        """The pod has changed, and so may its place."""
        self._flushed = None
        (self.ordinary if queued.key in self.ordinary else self.after_error).push(queued)

    def remove(self, key: str) -> QueuedPod | None:
        return self.ordinary.remove(key) or (self.after_error.remove(key) if self.after_error.present else None)

    def pop_completed(self) -> list[QueuedPod]:
        """All pods whose backoff had run out at the last full second."""
        if not self:
            return []
        now, origin = self._clock.now(), 0 if self._pops_early else self._started
        looked_at = now - (now - origin) % WINDOW
        if looked_at == self._flushed:
            return []
        self._flushed = looked_at
        found = []
        for heap in (self.ordinary, self.after_error):
            while (queued := heap.peek()) is not None and self.expiry(queued) < looked_at:
                heap.pop()
                found.append(queued)
        return found

    def is_backing_off(self, queued: QueuedPod) -> bool:
        return self.expiry(queued) >= self._aligned(self._clock.now())

    def expiry(self, queued: QueuedPod) -> int:
        """When the backoff of a pod ends; 0 without backoff."""
        count = queued.consecutive_errors or queued.unschedulable_count
        if not count or not self._longest:
            return 0
        if queued.backoff_until is None:
            queued.backoff_until = self._aligned(queued.timestamp + self.duration(count))
        return queued.backoff_until

    def duration(self, count: int) -> int:
        """The initial backoff, doubled with each failure, at most the longest."""
        return min(self._initial << min(count - 1, 62), self._longest)

    def next_expiry(self) -> int | None:
        """When the next pod that waits may be tried again: pods are looked at once a second."""
        heaps = (self.after_error,) if self._pops_early else (self.ordinary, self.after_error)
        due = [self.expiry(queued) for queued in (heap.peek() for heap in heaps) if queued is not None]
        if not due or self._pops_early:
            return due[0] + WINDOW if due else None
        return self._started + ((min(due) - self._started) // WINDOW + 1) * WINDOW

    def _aligned(self, instant: int) -> int:
        return instant - instant % WINDOW if self._pops_early else instant

    def _by_window(self, queued: QueuedPod) -> tuple[Any, ...]:
        return self.expiry(queued), self._order(queued)

    def _by_expiry(self, queued: QueuedPod) -> tuple[int, int]:
        return self.expiry(queued), queued.sequence
