"""Outcomes by row, each valid for one version of the row and of the pods nominated to its node."""

from typing import Generic, TypeVar

from seatrial.scheduler.cache.node_table import NodeTable
from seatrial.scheduler.framework.cluster import Nominator

T = TypeVar("T")


class RowOutcomes(Generic[T]):
    """What was found out for pods of one shape."""

    def __init__(self, table: NodeTable, nominator: Nominator) -> None:
        self._table, self._nominator = table, nominator
        self._by_row: dict[int, tuple[int, int, str, T]] = {}

    def get(self, row: int, node: str) -> T | None:
        """The outcome kept for the present state of a row; None if there is none."""
        kept = self._by_row.get(row)
        if kept is None or kept[:3] != (self._table.row_versions[row], self._nominator.version_of(node), node):
            return None
        return kept[3]

    def keep(self, row: int, node: str, outcome: T) -> None:
        self._by_row[row] = self._table.row_versions[row], self._nominator.version_of(node), node, outcome
