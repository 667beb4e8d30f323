"""Keeps what evictions on a node would lead to, per pod shape: an unchanged row gives the same answer again."""

from typing import Any

from seatrial.scheduler.cache.node_table import NodeTable
from seatrial.scheduler.cache.pod_info import PodShape
from seatrial.scheduler.cache.versioned import Versioned
from seatrial.scheduler.evaluator.row_outcomes import RowOutcomes
from seatrial.scheduler.framework.cluster import Nominator

MOST_SHAPES = 8


class DryRunCache:
    """Outcomes of the shapes seen last."""

    def __init__(self, table: NodeTable, nominator: Nominator) -> None:
        self._table, self._nominator = table, nominator
        self._shapes: Versioned[dict[PodShape, RowOutcomes[Any]]] = Versioned()

    def outcomes(self, shape: PodShape, versions: Any) -> RowOutcomes[Any]:
        """What is kept for a shape; nothing if `versions` of what all dry runs depend on have changed."""
        kept = self._shapes.get(versions, dict)
        found = kept.pop(shape, None)
        if found is None:
            found = RowOutcomes(self._table, self._nominator)
            if len(kept) >= MOST_SHAPES:
                del kept[next(iter(kept))]
        kept[shape] = found
        return found
