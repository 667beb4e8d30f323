"""The nodes that pass all cached filters of a shape, in the order of the search: a search reads them off."""

from array import array
from bisect import bisect_left

import numpy as np
from numpy.typing import NDArray

from seatrial.scheduler.cache.node_table import Rows


class Passing:
    """The places of an order at which a node passes, ascending, and the rows there."""

    def __init__(self, order: Rows, blocked: NDArray[np.bool_]) -> None:
        self.order = order
        self.seen = 0
        """How many changes of verdicts have been taken over."""
        places = np.flatnonzero(~blocked[order])
        self._places = array("q", places.tobytes())
        self._rows = array("q", order[places].tobytes())
        self._place_of: Rows | None = None
        """The place of each row, -1 if the order leaves it out; made when first asked for."""
        self._turned: tuple[int, Rows] | None = None
        """All rows from one of them on."""

    def change(self, row: int, passes: bool) -> None:
        """A node passes, or does not; it may have been so before."""
        place = self.place(row)
        if place < 0:
            return
        at = bisect_left(self._places, place)
        if (at < len(self._places) and self._places[at] == place) == passes:
            return
        if passes:
            self._places.insert(at, place)
            self._rows.insert(at, row)
        else:
            del self._places[at], self._rows[at]
        self._turned = None

    def place(self, row: int) -> int:
        """The place of a row in the order, -1 if that leaves it out."""
        if self._place_of is None:
            self._place_of = np.full(int(self.order.max(initial=-1)) + 1, -1, np.intp)
            self._place_of[self.order] = np.arange(len(self.order))
        return self._place_of.item(row) if row < len(self._place_of) else -1

    def find(self, start: int, limit: int) -> tuple[Rows, int]:
        """The first `limit` rows from a place on, and how many nodes are visited until one more is met."""
        number = len(self._places)
        first = bisect_left(self._places, start)
        if number <= limit:
            if self._turned is None or self._turned[0] != first:
                self._turned = first, _listed(self._rows[first:] + self._rows[:first])
            return self._turned[1], len(self.order)
        end = first + limit
        if end < number:
            return _listed(self._rows[first:end]), self._places[end] - start
        end -= number
        return _listed(self._rows[first:] + self._rows[:end]), self._places[end] - start + len(self.order)


def _listed(rows: "array[int]") -> Rows:
    """A part of the rows, which no later change alters."""
    return np.frombuffer(rows, np.intp)
