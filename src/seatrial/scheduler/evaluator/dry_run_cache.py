"""Keeps what evictions on a node would lead to, per pod shape: an unchanged row gives the same answer again."""

from typing import Any

from seatrial.scheduler.cache.node_table import NodeTable
from seatrial.scheduler.cache.pod_info import PodShape
from seatrial.scheduler.cache.versioned import Versioned

MOST_SHAPES = 8


class RowOutcomes:
    """The outcomes for one shape by row, each valid for one version of the row."""

    def __init__(self, table: NodeTable) -> None:
        self._table = table
        self._by_row: dict[int, tuple[int, Any]] = {}

    def get(self, row: int) -> Any:
        """The outcome kept for the present version of a row; None if there is none."""
        version, outcome = self._by_row.get(row, _NEVER)
        return outcome if version == self._table.row_versions[row] else None

    def keep(self, row: int, outcome: Any) -> None:
        self._by_row[row] = self._table.row_versions[row], outcome


_NEVER = (-1, None)


class DryRunCache:
    """Outcomes of the shapes seen last."""

    def __init__(self, table: NodeTable) -> None:
        self._table = table
        self._shapes: Versioned[dict[PodShape, RowOutcomes]] = Versioned()

    def outcomes(self, shape: PodShape, versions: Any) -> RowOutcomes:
        """What is kept for a shape; nothing if `versions` of what all dry runs depend on have changed."""
        kept = self._shapes.get(versions, dict)
        found = kept.pop(shape, None)
        if found is None:
            found = RowOutcomes(self._table)
            if len(kept) >= MOST_SHAPES:
                del kept[next(iter(kept))]
        kept[shape] = found
        return found
