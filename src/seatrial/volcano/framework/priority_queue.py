"""A binary heap that asks for the order at every step, as Go's container/heap does.

Keys may change while items wait (shares move with every allocation); which item comes out then depends on the steps
of the heap, so these are Go's. Upstream: pkg/scheduler/util/priority_queue.go.
"""

from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from typing import Any, Generic, Protocol, TypeVar

T = TypeVar("T")


class ItemQueue(Protocol[T]):
    """What the actions need of a queue."""

    def __len__(self) -> int: ...
    def push(self, item: T) -> None: ...
    def pop(self) -> T: ...
    def items(self) -> list[T]: ...


class KeyOrder(Generic[T]):
    """A comparison by a key: the smaller one goes first."""

    __slots__ = ("key",)

    def __init__(self, key: Callable[[T], Any]) -> None:
        self.key = key

    def __call__(self, left: T, right: T) -> int:
        one, other = self.key(left), self.key(right)
        return int(one > other) - int(one < other)


class KeyedQueue(Generic[T]):
    """Items by keys that do not change while an item waits: then the steps of the heap do not matter.

    Keys of different items differ.
    """

    __slots__ = ("_heap", "_key")

    def __init__(self, key: Callable[[T], tuple[Any, ...]], items: Iterable[T] = ()) -> None:
        self._key = key
        self._heap: list[tuple[tuple[Any, ...], T]] = sorted((key(item), item) for item in items)

    def __len__(self) -> int:
        return len(self._heap)

    def push(self, item: T) -> None:
        heappush(self._heap, (self._key(item), item))

    def pop(self) -> T:
        return heappop(self._heap)[1]

    def clone(self) -> "KeyedQueue[T]":
        copy = KeyedQueue(self._key)
        copy._heap = self._heap.copy()
        return copy

    def items(self) -> list[T]:
        """All items, in no particular order."""
        return [item for _, item in self._heap]

    def clear(self) -> None:
        self._heap.clear()


class PriorityQueue(Generic[T]):
    """Items by a `less` that is asked lazily."""

    __slots__ = ("_items", "_less")

    def __init__(self, less: Callable[[T, T], bool], items: Iterable[T] = ()) -> None:
        self._less = less
        self._items: list[T] = []
        for item in items:
            self.push(item)

    def __len__(self) -> int:
        return len(self._items)

    def push(self, item: T) -> None:
        items, less = self._items, self._less
        items.append(item)
        place = len(items) - 1
        while place:
            parent = (place - 1) // 2
            if not less(items[place], items[parent]):
                break
            items[place], items[parent] = items[parent], items[place]
            place = parent

    def pop(self) -> T:
        items, less = self._items, self._less
        last = len(items) - 1
        items[0], items[last] = items[last], items[0]
        place = 0
        while (child := 2 * place + 1) < last:
            if child + 1 < last and less(items[child + 1], items[child]):
                child += 1
            if not less(items[child], items[place]):
                break
            items[place], items[child] = items[child], items[place]
            place = child
        return items.pop()

    def clone(self) -> "PriorityQueue[T]":
        copy: PriorityQueue[T] = PriorityQueue(self._less)
        copy._items = self._items.copy()
        return copy

    def items(self) -> list[T]:
        """All items, in no particular order."""
        return list(self._items)

    def clear(self) -> None:
        self._items.clear()
