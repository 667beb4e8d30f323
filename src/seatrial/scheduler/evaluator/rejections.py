"""For each row the first filter that rejects it, kept with the columns of a shape and made when first asked for.

Most cycles need the feasible nodes only. Records and failures need a reason for every node; with this column that is
one look-up instead of a comparison for each filter and code.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from seatrial.scheduler.cache.node_table import Rows
from seatrial.scheduler.evaluator.interface import Counted, Explained
from seatrial.scheduler.evaluator.plugin_column import FilterColumn
from seatrial.scheduler.framework.status import Status

Numbers = NDArray[np.int32]


class Rejections:
    """Numbers of statuses by row, 0 where no column rejects it. The meaning of a code depends on the shape alone."""

    def __init__(self, columns: Sequence[FilterColumn], size: int) -> None:
        self._columns = [column for column in columns if column.codes is not None]
        self._codes = [column.codes for column in self._columns if column.codes is not None]
        self._numbers: dict[Status, int] = {}
        self._known: dict[tuple[int, int], int] = {}
        self._statuses: list[Status] = []
        self._by_row: Numbers = np.zeros(size, np.int32)
        self._rows_with = [size]
        """By number of a status: how many rows have it."""
        self.update(np.arange(size))

    def update(self, rows: Rows) -> None:
        """Reads the columns of some rows again."""
        found = np.zeros(len(rows), np.int32)
        for place, codes in enumerate(self._codes):
            own = codes[rows]
            left = np.flatnonzero((found == 0) & (own != 0))
            if len(left):
                found[left] = self._numbered(place, own[left])
        self._count(self._by_row[rows], -1)
        self._count(found, 1)
        self._by_row[rows] = found

    def update_row(self, row: int) -> None:
        """Reads the columns of one row again."""
        number = 0
        for place, codes in enumerate(self._codes):
            code = codes.item(row)
            if code:
                number = self._number(place, code)
                break
        self._rows_with[self._by_row.item(row)] -= 1
        self._rows_with[number] += 1
        self._by_row[row] = number

    def explain(self, rows: Rows) -> Explained:
        """The verdicts of some rows, with the statuses in the order in which they first occur."""
        numbers = self._by_row[rows]
        present = np.flatnonzero(np.bincount(numbers, minlength=1)[1:]) + 1
        if len(present) > 1:
            first = [int((numbers == number).argmax()) for number in present.tolist()]
            present = present[np.argsort(first)]
        codes = np.zeros(len(self._statuses) + 1, np.int32)
        codes[present] = np.arange(1, len(present) + 1)
        return codes[numbers], tuple(self._statuses[number - 1] for number in present.tolist())

    def counted(self, rows: Rows, rejected: int) -> Counted:
        """The number of rows with each status, in the order of `explain`; `rejected` is that of all of them.

        If there is only one status in the whole table no row is read.
        """
        there = [number for number, times in enumerate(self._rows_with) if number and times]
        if len(there) < 2 or not rejected:
            return ((self._statuses[there[0] - 1],), (rejected,)) if rejected else ((), ())
        numbers = self._by_row[rows]
        counts = np.bincount(numbers, minlength=len(self._rows_with)).tolist()
        found = [number for number in there if counts[number]]
        if len(found) > 1:
            found.sort(key=lambda number: int((numbers == number).argmax()))
        return tuple([self._statuses[number - 1] for number in found]), tuple([counts[number] for number in found])

    def _count(self, numbers: Numbers, sign: int) -> None:
        for number, times in enumerate(np.bincount(numbers).tolist()):
            self._rows_with[number] += sign * times

    def _numbered(self, place: int, codes: Numbers) -> Numbers:
        distinct = sorted(set(codes.tolist()))
        if len(distinct) == 1:
            return np.full(len(codes), self._number(place, distinct[0]), np.int32)
        numbers = np.array([self._number(place, code) for code in distinct], np.int32)
        return numbers[np.searchsorted(distinct, codes)]

    def _number(self, place: int, code: int) -> int:
        """The number of the status that a code of a column stands for; equal statuses share theirs."""
        number = self._known.get((place, code))
        if number is None:
            column = self._columns[place]
            assert column.meaning is not None
            status = column.call.signed(column.meaning(code))
            number = self._numbers.setdefault(status, len(self._numbers) + 1)
            if number > len(self._statuses):
                self._statuses.append(status)
                self._rows_with.append(0)
            self._known[place, code] = number
        return number
