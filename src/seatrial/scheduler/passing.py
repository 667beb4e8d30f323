"""The nodes that pass all cached filters of a shape, in the order of the search: a search reads them off."""

import numpy as np
from numpy.typing import NDArray

from seatrial.scheduler.nodes import Rows


class Passing:
    """The places of an order at which a node passes, ascending, and the rows there."""

    def __init__(self, order: Rows, blocked: NDArray[np.bool_]) -> None:
        self.order = order
        self._places: Rows = np.flatnonzero(~blocked[order])
        self._rows: Rows = order[self._places]

    def change(self, row: int, passes: bool) -> None:
        """A node that did not pass does now, or the other way round."""
        place = np.flatnonzero(self.order == row)
        if not len(place):
            return
        at = int(self._places.searchsorted(place[0]))
        added, after = (place, at) if passes else (place[:0], at + 1)
        self._places = np.concatenate((self._places[:at], added, self._places[after:]))
        self._rows = self.order[self._places]

    def find(self, start: int, limit: int) -> tuple[Rows, int]:
        """The first `limit` rows from a place on, and how many nodes are visited until one more is met."""
        number = len(self._places)
        first = int(self._places.searchsorted(start))
        if number <= limit:
            return np.concatenate((self._rows[first:], self._rows[:first])), len(self.order)
        end = first + limit
        if end < number:
            return self._rows[first:end], int(self._places[end]) - start
        end -= number
        rows = np.concatenate((self._rows[first:], self._rows[:end]))
        return rows, int(self._places[end]) - start + len(self.order)
