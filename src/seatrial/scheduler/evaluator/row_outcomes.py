"""Outcomes by row: each is forgotten as soon as the row changes, or the pods nominated to its node."""

import numpy as np
from numpy.typing import NDArray

from seatrial.scheduler.cache.node_table import NodeTable
from seatrial.scheduler.framework.cluster import Nominator
from seatrial.scheduler.framework.status import SUCCESS, Status

UNKNOWN = -1


class RowChanges:
    """The rows that have changed themselves, or by the pods nominated to their nodes, since the last question."""

    def __init__(self, table: NodeTable, nominator: Nominator) -> None:
        self._table, self._nominator = table, nominator
        self._mark, self._nominations = table.mark, nominator.changes

    def take(self) -> list[int] | None:
        """The rows, some of them perhaps twice; None if the logs do not reach back so far."""
        table, row_of = self._table, self._table.row_of
        entries, names = table.entries(self._mark), self._nominator.changed_since(self._nominations)
        self._mark, self._nominations = table.mark, self._nominator.changes
        if entries is None or names is None:
            return None
        return [entry >> 1 for entry in entries] + [row_of[name] for name in names if name in row_of]


class RowVerdicts:
    """Verdicts as numbers in an array: 0 is success, others are places in `statuses`."""

    def __init__(self, table: NodeTable, nominator: Nominator) -> None:
        self._table = table
        self._changes = RowChanges(table, nominator)
        self.codes: NDArray[np.int32] = np.full(table.size, UNKNOWN, np.int32)
        self.statuses: list[Status] = [SUCCESS]
        self._numbers: dict[Status, int] = {SUCCESS: 0}

    def refresh(self) -> None:
        """Forgets the verdicts that do not hold any more."""
        rows = self._changes.take()
        if rows is None or len(self.codes) != self._table.size:
            self.codes = np.full(self._table.size, UNKNOWN, np.int32)
        elif rows:
            self.codes[rows] = UNKNOWN

    def number(self, status: Status) -> int:
        """The number of a verdict."""
        if status.is_success:
            return 0
        number = self._numbers.setdefault(status, len(self.statuses))
        if number == len(self.statuses):
            self.statuses.append(status)
        return number
