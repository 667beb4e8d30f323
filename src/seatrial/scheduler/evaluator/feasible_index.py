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
        places = np.flatnonzero(~blocked[order])
        self._places = array("q", places.tobytes())
        self._rows: Rows = order[places]
        self._turned: tuple[int, Rows] | None = None
        """All rows from one of them on."""

    def change(self, row: int, passes: bool) -> None:
        """A node that did not pass does now, or the other way round."""
        place = np.flatnonzero(self.order == row)
        if not len(place):
            return
        at = bisect_left(self._places, place.item(0))
        if passes:
            self._places.insert(at, place.item(0))
        else:
            del self._places[at]
        self._rows = self.order[np.frombuffer(self._places, np.int64)]
        self._turned = None

    def find(self, start: int, limit: int) -> tuple[Rows, int]:
        """The first `limit` rows from a place on, and how many nodes are visited until one more is met."""
        number = len(self._places)
        first = bisect_left(self._places, start)
        if number <= limit:
            if self._turned is None or self._turned[0] != first:
                self._turned = first, np.concatenate((self._rows[first:], self._rows[:first]))
            return self._turned[1], len(self.order)
        end = first + limit
        if end < number:
            return self._rows[first:end], self._places[end] - start
        end -= number
        rows = np.concatenate((self._rows[first:], self._rows[:end]))
        return rows, self._places[end] - start + len(self.order)
