"""Keeps what evictions on a node would lead to, per pod shape: an unchanged row gives the same answer again."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from seatrial.scheduler.cache.node_table import Mask, NodeTable, Rows
from seatrial.scheduler.cache.pod_info import PodShape
from seatrial.scheduler.cache.versioned import Versioned
from seatrial.scheduler.evaluator.row_outcomes import RowChanges
from seatrial.scheduler.framework.cluster import Nominator
from seatrial.scheduler.framework.status import Code, Status
from seatrial.scheduler.preemption.candidates import RANK_COLUMNS, Victims, best_places

MOST_SHAPES = 8
UNKNOWN, FAILED, BREAKING, SPOTLESS = range(4)
"""What is known of a row: a candidate breaks a disruption budget, or it is spotless."""


class DryRuns:
    """The outcomes by row that pods of one shape share."""

    def __init__(self, table: NodeTable, nominator: Nominator) -> None:
        self._table = table
        self._changes = RowChanges(table, nominator)
        self._own = -1
        """The row of the node to which the last pod was nominated: what was found out there is good for it alone."""
        self._clear()

    def _clear(self) -> None:
        self.kinds = np.zeros(self._table.size, np.int8)
        self.ranks = np.zeros((self._table.size, RANK_COLUMNS), np.int64)
        self.outcomes: dict[int, Victims | Status] = {}

    def refresh(self, own: int) -> None:
        """Forgets the outcomes that do not hold any more, or not for a pod that is nominated to a row of its own."""
        rows = self._changes.take()
        if rows is None or len(self.kinds) != self._table.size:
            self._clear()
        elif rows:
            self.kinds[rows] = UNKNOWN
        for row in (own, self._own):
            if row >= 0:
                self.kinds[row] = UNKNOWN
        self._own = own

    def keep(self, row: int, outcome: Victims | Status) -> None:
        """Takes an outcome, which holds until the row changes."""
        self.outcomes[row] = outcome
        if isinstance(outcome, Status):
            self.kinds[row] = FAILED
        else:
            self.kinds[row] = BREAKING if outcome.violations else SPOTLESS
            self.ranks[row] = outcome.rank

    def end(self, rows: Rows, wanted: int) -> int:
        """How many rows are tried until there are enough candidates, one of them spotless; unknown ones are none."""
        kinds = self.kinds[rows]
        candidates = np.flatnonzero(kinds >= BREAKING)
        if len(candidates) < wanted:
            return len(rows)
        spotless = int((kinds == SPOTLESS).argmax()) if len(rows) else 0
        if not len(rows) or kinds[spotless] != SPOTLESS:
            return len(rows)
        return max(spotless, int(candidates[wanted - 1]) if wanted else 0) + 1


@dataclass(frozen=True, slots=True)
class DryRun:
    """Nodes where evictions would help, and why others are none of them: valid until the next dry run."""

    table: NodeTable
    rows: Rows
    """the nodes that were tried, in the order of their names"""
    known: DryRuns

    @property
    def _helps(self) -> Mask:
        mask: Mask = self.known.kinds[self.rows] != FAILED
        return mask

    @property
    def candidates(self) -> Mapping[str, Victims]:
        """The victims by node."""
        return dict(self._named(self.rows[self._helps]))

    @property
    def failed(self) -> Mapping[str, Status]:
        """Why no victims were found, by node."""
        return dict(self._named(self.rows[~self._helps]))

    @property
    def errors(self) -> list[str]:
        return [status.message for status in self.failed.values() if status.code == Code.ERROR]

    def best(self, now: int) -> tuple[str, Victims] | None:
        """The best candidate, of several the first by name; None without one."""
        rows = self.rows[self._helps]
        if not len(rows):
            return None
        row = int(rows[best_places(self.known.ranks[rows], now)[0]])
        victims: Any = self.known.outcomes[row]
        return self.table.info(row).name, victims

    def _named(self, rows: Rows) -> Iterator[tuple[str, Any]]:
        outcomes = self.known.outcomes
        return ((name, outcomes[row]) for name, row in zip(self.table.names_of(rows), rows.tolist(), strict=True))


class DryRunCache:
    """Outcomes of the shapes seen last."""

    def __init__(self, table: NodeTable, nominator: Nominator) -> None:
        self._table, self._nominator = table, nominator
        self._shapes: Versioned[dict[PodShape, DryRuns]] = Versioned()

    def outcomes(self, shape: PodShape, versions: Any) -> DryRuns:
        """What is kept for a shape; nothing if `versions` of what all dry runs depend on have changed."""
        kept = self._shapes.get(versions, dict)
        found = kept.pop(shape, None)
        if found is None:
            found = DryRuns(self._table, self._nominator)
            if len(kept) >= MOST_SHAPES:
                del kept[next(iter(kept))]
        kept[shape] = found
        return found
