"""A priority queue of pods that can also be asked for one by name. Upstream: pkg/scheduler/backend/heap."""

import heapq
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from seatrial.scheduler.queue.queued_pod_info import QueuedPod

Order = Callable[[QueuedPod], Any]
Entry = tuple[Any, int, str]
"""The order of a pod, a number that tells its latest entry, and its key."""


class PodHeap:
    """Pods by order; an entry that is gone or moved is skipped when it comes up.

    Most pods come in the order in which they leave: those are kept in a list, and only the others go through a heap.
    """

    def __init__(self, order: Order) -> None:
        self._order = order
        self._line: deque[Entry] = deque()
        self._heap: list[Entry] = []
        self.present: dict[str, tuple[QueuedPod, int]] = {}
        """By key: the pods, each with the number of its entry. Others may read it, which costs no call."""
        self._count = 0

    def __len__(self) -> int:
        return len(self.present)

    def __contains__(self, key: str) -> bool:
        return key in self.present

    def __iter__(self) -> Iterator[QueuedPod]:
        return iter([queued for queued, _ in self.present.values()])

    def get(self, key: str) -> QueuedPod | None:
        entry = self.present.get(key)
        return entry and entry[0]

    def push(self, queued: QueuedPod) -> None:
        """Add a pod, or give it a new place when its order has changed."""
        entry, last = self._entry_of(queued), self._last()
        if last is None or last < entry:
            self._line.append(entry)
        else:
            heapq.heappush(self._heap, entry)

    def push_all(self, pods: Iterable[QueuedPod]) -> None:
        """Add many pods; those that come after all that are there go to the list together."""
        entries = sorted([self._entry_of(queued) for queued in pods])
        last = self._last()
        late = 0 if last is None else bisect_right(entries, last)
        self._line.extend(entries[late:])
        for entry in entries[:late]:
            heapq.heappush(self._heap, entry)

    def _entry_of(self, queued: QueuedPod) -> Entry:
        self._count += 1
        key = queued.key
        self.present[key] = (queued, self._count)
        return self._order(queued), self._count, key

    def remove(self, key: str) -> QueuedPod | None:
        entry = self.present.pop(key, None)
        return entry and entry[0]

    def peek(self) -> QueuedPod | None:
        first = self._first()
        return None if first is None else self.present[first[2]][0]

    def pop(self) -> QueuedPod | None:
        line = self._line
        if line and not self._heap:  # most often
            _, number, key = line.popleft()
            known = self.present.get(key)
            if known is not None and known[1] == number:
                del self.present[key]
                return known[0]
        first = self._first()
        if first is None:
            return None
        if line and first is line[0]:
            line.popleft()
        else:
            heapq.heappop(self._heap)
        return self.present.pop(first[2])[0]

    def _first(self) -> Entry | None:
        """The first entry that still holds; those before it are dropped."""
        line, heap = self._line, self._heap
        while line and self._is_gone(line[0]):
            line.popleft()
        while heap and self._is_gone(heap[0]):
            heapq.heappop(heap)
        if line and (not heap or line[0] < heap[0]):
            return line[0]
        return heap[0] if heap else None

    def _last(self) -> Entry | None:
        """The last entry of the list that still holds; those after it are dropped."""
        line = self._line
        while line and self._is_gone(line[-1]):
            line.pop()
        return line[-1] if line else None

    def _is_gone(self, entry: Entry) -> bool:
        """Whether the pod has left, or has another place now."""
        known = self.present.get(entry[2])
        return known is None or known[1] != entry[1]
