"""Go's sort.Slice: pattern-defeating quicksort, which leaves equal elements in an order of its own.

Which of several equally important pods is evicted depends on that order, so it is followed step by step. Method: Go's
sort package (pdqsort, since 1.19). Below 13 elements it is insertion sort, and stable.
"""

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
Less = Callable[[T, T], bool]

MOST_INSERTION = 12
SHORTEST_NINTHER = 50
SHORTEST_SHIFTING = 50
MOST_STEPS = 5
MOST_SWAPS = 12
_WORD = (1 << 64) - 1
_UNKNOWN, _INCREASING, _DECREASING = range(3)


def go_sort(items: list[T], less: Less[T]) -> None:
    """Sorts in place as sort.Slice would."""
    _Sorter(items, less).sort(0, len(items), len(items).bit_length())


class _Sorter:
    """The list being sorted, by place."""

    def __init__(self, items: list[T], less: Less[T]) -> None:
        self._items = items
        self._compare = less

    def less(self, i: int, j: int) -> bool:
        return self._compare(self._items[i], self._items[j])

    def swap(self, i: int, j: int) -> None:
        self._items[i], self._items[j] = self._items[j], self._items[i]

    def sort(self, a: int, b: int, limit: int) -> None:
        balanced = partitioned = True
        while b - a > MOST_INSERTION:
            length = b - a
            if limit == 0:
                self._heap_sort(a, b)
                return
            if not balanced:
                self._break_patterns(a, b)
                limit -= 1
            pivot, hint = self._choose_pivot(a, b)
            if hint == _DECREASING:
                self._items[a:b] = self._items[a:b][::-1]
                pivot, hint = (b - 1) - (pivot - a), _INCREASING
            if balanced and partitioned and hint == _INCREASING and self._insert_few(a, b):
                return
            if a > 0 and not self.less(a - 1, pivot):
                a = self._partition_equal(a, b, pivot)
                continue
            middle, partitioned = self._partition(a, b, pivot)
            left, right = middle - a, b - middle
            balanced = min(left, right) >= length // 8
            if left < right:
                self.sort(a, middle, limit)
                a = middle + 1
            else:
                self.sort(middle + 1, b, limit)
                b = middle
        self._insert(a, b)

    def _insert(self, a: int, b: int) -> None:
        for i in range(a + 1, b):
            j = i
            while j > a and self.less(j, j - 1):
                self.swap(j, j - 1)
                j -= 1

    def _sift_down(self, low: int, high: int, first: int) -> None:
        root = low
        while (child := 2 * root + 1) < high:
            if child + 1 < high and self.less(first + child, first + child + 1):
                child += 1
            if not self.less(first + root, first + child):
                return
            self.swap(first + root, first + child)
            root = child

    def _heap_sort(self, a: int, b: int) -> None:
        size = b - a
        for i in range((size - 1) // 2, -1, -1):
            self._sift_down(i, size, a)
        for i in range(size - 1, -1, -1):
            self.swap(a, a + i)
            self._sift_down(0, i, a)

    def _partition(self, a: int, b: int, pivot: int) -> tuple[int, bool]:
        """Smaller ones before the pivot, the others after it; whether nothing had to move."""
        self.swap(a, pivot)
        i, j = self._narrow(a, a + 1, b - 1)
        if i > j:
            self.swap(j, a)
            return j, True
        while i <= j:
            self.swap(i, j)
            i, j = self._narrow(a, i + 1, j - 1)
        self.swap(j, a)
        return j, False

    def _narrow(self, pivot: int, i: int, j: int) -> tuple[int, int]:
        while i <= j and self.less(i, pivot):
            i += 1
        while i <= j and not self.less(j, pivot):
            j -= 1
        return i, j

    def _partition_equal(self, a: int, b: int, pivot: int) -> int:
        """Those equal to the pivot before the greater ones."""
        self.swap(a, pivot)
        i, j = a + 1, b - 1
        while True:
            while i <= j and not self.less(a, i):
                i += 1
            while i <= j and self.less(a, j):
                j -= 1
            if i > j:
                return i
            self.swap(i, j)
            i, j = i + 1, j - 1

    def _insert_few(self, a: int, b: int) -> bool:
        """Sorts what is nearly sorted; False where it is not."""
        i = a + 1
        for _ in range(MOST_STEPS):
            while i < b and not self.less(i, i - 1):
                i += 1
            if i == b:
                return True
            if b - a < SHORTEST_SHIFTING:
                return False
            self.swap(i, i - 1)
            if i - a >= 2:
                j = i - 1
                while j >= 1 and self.less(j, j - 1):
                    self.swap(j, j - 1)
                    j -= 1
            if b - i >= 2:
                j = i + 1
                while j < b and self.less(j, j - 1):
                    self.swap(j, j - 1)
                    j += 1
        return False

    def _break_patterns(self, a: int, b: int) -> None:
        length = b - a
        state, modulus = length, 1 << length.bit_length()
        middle = a + length // 4 * 2
        for place in (middle - 1, middle, middle + 1):
            state ^= state << 13 & _WORD
            state ^= state >> 7
            state ^= state << 17 & _WORD
            other = state & (modulus - 1)
            self.swap(place, a + (other - length if other >= length else other))

    def _choose_pivot(self, a: int, b: int) -> tuple[int, int]:
        quarter = (b - a) // 4
        places = [a + quarter, a + quarter * 2, a + quarter * 3]
        swaps = 0
        if b - a >= SHORTEST_NINTHER:
            for index, place in enumerate(places):
                places[index], more = self._median(place - 1, place, place + 1)
                swaps += more
        pivot, more = self._median(*places)
        swaps += more
        return pivot, {0: _INCREASING, MOST_SWAPS: _DECREASING}.get(swaps, _UNKNOWN)

    def _median(self, a: int, b: int, c: int) -> tuple[int, int]:
        """The place of the median of three, and how many pairs were out of order."""
        swaps = 0
        if self.less(b, a):
            a, b, swaps = b, a, swaps + 1
        if self.less(c, b):
            b, c, swaps = c, b, swaps + 1
        if self.less(b, a):
            a, b, swaps = b, a, swaps + 1
        return b, swaps
