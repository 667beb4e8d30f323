"""A priority queue of pods that can also be asked for one by name. Upstream: pkg/scheduler/backend/heap."""

import heapq
from collections.abc import Callable, Iterator
from typing import Any

from seatrial.scheduler.queue.queued import QueuedPod

Order = Callable[[QueuedPod], Any]


class PodHeap:
    """Pods by order; an entry that is gone or moved is skipped when it comes up."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._entries: list[tuple[Any, int, str]] = []
        self._present: dict[str, tuple[QueuedPod, int]] = {}
        self._count = 0

    def __len__(self) -> int:
        return len(self._present)

    def __contains__(self, key: str) -> bool:
        return key in self._present

    def __iter__(self) -> Iterator[QueuedPod]:
        return iter([queued for queued, _ in self._present.values()])

    def get(self, key: str) -> QueuedPod | None:
        entry = self._present.get(key)
        return entry and entry[0]

    def push(self, queued: QueuedPod) -> None:
        """Add a pod, or give it a new place when its order has changed."""
        self._count += 1
        key = queued.pod.key
        self._present[key] = (queued, self._count)
        heapq.heappush(self._entries, (self._order(queued), self._count, key))

    def remove(self, key: str) -> QueuedPod | None:
        entry = self._present.pop(key, None)
        return entry and entry[0]

    def peek(self) -> QueuedPod | None:
        while self._entries:
            _, count, key = self._entries[0]
            entry = self._present.get(key)
            if entry is not None and entry[1] == count:
                return entry[0]
            heapq.heappop(self._entries)
        return None

    def pop(self) -> QueuedPod | None:
        queued = self.peek()
        if queued is not None:
            heapq.heappop(self._entries)
            del self._present[queued.pod.key]
        return queued
