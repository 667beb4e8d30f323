"""Columns that all pods of a shape share: filter verdicts and local scores, brought up to date row by row.

A plugin says what its answer for a node depends on (`Reads`). Answers that depend on the node, or on the node and its
pods, are kept per profile and shape; after a change of the table only the changed rows are asked for again. Answers
that depend on more are never kept.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.scheduler.extension import MAX_NODE_SCORE, Plugin, Reads
from seatrial.scheduler.framework import CycleState, FilterCall, Framework, ScoreCall
from seatrial.scheduler.nodes import NodeTable, Rows
from seatrial.scheduler.pods import PodInfo, PodShape
from seatrial.scheduler.verdict import MISSING, Code, Meaning, Status

FEWEST_SHAPES, MOST_SHAPES = 16, 1024
MOST_ROWS = 1 << 20
"""How many rows the columns of all shapes together may have: one takes about 60 bytes."""
FEW_ROWS = 4


class ShapeColumns:
    """Filter codes and raw scores of one shape in one profile, over all rows of the table."""

    def __init__(self, framework: Framework, table: NodeTable) -> None:
        self.table = table
        self.size = -1
        self.mark = 0
        self.filters = [FilterColumn(call) for call in framework.filters if call.is_cached]
        asked = {plugin.name for plugin in framework.points.get("preScore", ())}
        self.scores = [ScoreColumn(call, call.name in asked) for call in framework.scorers if call.is_cached]
        self.blocked: NDArray[np.bool_] = np.zeros(0, np.bool_)
        self.local: NDArray[np.int64] = np.zeros(0, np.int64)
        """Sum of the weighted scores that need no normalisation."""
        self.rows_evaluated = 0
        self._all: list[FilterColumn | ScoreColumn] = [*self.filters, *self.scores]
        self._moving = [c for c in self._all if type(c.call.plugin).depends_on is not Plugin.depends_on]
        self._by_name = {column.call.name: column for column in self.filters}
        self._scores_by_name = {column.call.name: column for column in self.scores}
        self._unsettled: list[ScoreCall] | None = None
        self.settled = 0
        self.asks_first = [(name, None if name in self._scores_by_name else ask) for name, ask in framework.pre_scorers]
        self._scorers = framework.scorers

    def filter_column(self, name: str) -> "FilterColumn | None":
        return self._by_name.get(name)

    def pre_state(self, name: str) -> Any:
        """What PreScore of a cached plugin answered."""
        return self._scores_by_name[name].state

    def score_column(self, name: str) -> "ScoreColumn | None":
        return self._scores_by_name.get(name)

    def unsettled(self) -> Sequence[ScoreCall]:
        """The scorers that must be asked for each pod; `settled` is what those with one score for all nodes add."""
        if self._unsettled is None:
            self.settled = 0
            self._unsettled = [call for call in self._scorers if not self._settles(call)]
        return self._unsettled

    def _settles(self, call: ScoreCall) -> bool:
        column = self._scores_by_name.get(call.name)
        if column is None or column.failure is not None:
            return False
        if column.raw is None:
            return True
        if call.normalize is None:
            return column.is_in_range
        if column.is_flat:
            self.settled += column.flat_value * call.weight
        return column.is_flat

    def refresh(self, pod: PodInfo, cycle: CycleState) -> None:
        """Brings all columns up to date with the table."""
        table = self.table
        moved = self.size != table.size or self._moved()
        if self.mark == table.mark and not moved:
            return
        if moved:
            self.mark = table.mark
            self._make(pod, cycle)
            return
        self.mark, node_rows, pod_rows = table.changes(self.mark)
        changed = None if node_rows is None else node_rows | pod_rows
        if node_rows is None or changed is None or len(changed) > table.size // 4:
            self._make(pod, cycle)
            return
        rows = [row for row in sorted(changed) if table.infos[row] is not None]
        if len(rows) <= FEW_ROWS:
            for row in rows:
                self._update_row(pod, row, row in node_rows)
            return
        places = np.asarray(rows, np.intp)
        nodes = np.asarray([row for row in rows if row in node_rows], np.intp)
        for column in self._all:
            own = nodes if column.call.reads == Reads.NODE else places
            if len(own):
                column.update(pod, table, own)
        self.rows_evaluated += len(rows)
        self._unsettled = None
        self._join(places)

    def _update_row(self, pod: PodInfo, row: int, node_changed: bool) -> None:
        """One row, without the cost of starting NumPy for it."""
        self.rows_evaluated += 1
        blocked = False
        for column in self.filters:
            if column.codes is not None:
                if node_changed or column.call.reads != Reads.NODE:
                    column.update_row(pod, self.table, row)
                blocked = blocked or column.codes[row] != 0
        self.blocked[row] = blocked
        local = 0
        for score in self.scores:
            if score.raw is not None:
                if node_changed or score.call.reads != Reads.NODE:
                    flags = score.is_flat, score.is_in_range
                    score.update_row(pod, self.table, row)
                    if flags != (score.is_flat, score.is_in_range):
                        self._unsettled = None
                if score.call.normalize is None:
                    local += int(score.raw[row]) * score.call.weight
        self.local[row] = local

    def _moved(self) -> bool:
        return any(column.depends != column.call.plugin.depends_on() for column in self._moving)

    def _make(self, pod: PodInfo, cycle: CycleState) -> None:
        self.size = self.table.size
        self._unsettled = None
        for column in self._all:
            column.make(pod, self.table, cycle)
        self.rows_evaluated += self.size
        self.blocked = np.zeros(self.size, np.bool_)
        self.local = np.zeros(self.size, np.int64)
        self._join(slice(None))

    def _join(self, rows: Rows | slice) -> None:
        blocked = np.zeros_like(self.blocked[rows])
        for column in self.filters:
            if column.codes is not None:
                blocked |= column.codes[rows] != 0
        self.blocked[rows] = blocked
        local = np.zeros_like(self.local[rows])
        for score in self.scores:
            if score.raw is not None and score.call.normalize is None:
                local += score.raw[rows] * score.call.weight
        self.local[rows] = local


class FilterColumn:
    """One filter's verdict codes; None while every node passes or the plugin is skipped."""

    def __init__(self, call: FilterCall) -> None:
        self.call = call
        self.codes: NDArray[np.int32] | None = None
        self.meaning: Meaning | None = None
        self.has_errors = False
        self.depends: Any = None
        self._state: Any = None
        self._one: Callable[..., int] | None = getattr(call.plugin, "filter_row", None)

    def make(self, pod: PodInfo, table: NodeTable, cycle: CycleState) -> None:
        self.depends = self.call.plugin.depends_on()
        self.codes = None
        self.has_errors = False
        if self.call.name in cycle.skipped:
            return
        self._state = cycle.of(self.call.name)
        verdicts = self.call(pod, table.all(), self._state)
        if verdicts is not None:
            self.codes, self.meaning, self.has_errors = verdicts.codes, verdicts.meaning, verdicts.has_errors

    def update(self, pod: PodInfo, table: NodeTable, rows: Rows) -> None:
        if self.codes is not None:
            verdicts = self.call(pod, table.take(rows), self._state)
            self.codes[rows] = 0 if verdicts is None else verdicts.codes

    def update_row(self, pod: PodInfo, table: NodeTable, row: int) -> None:
        """One row; a plugin may have a way of its own for that."""
        assert self.codes is not None
        if self._one is not None:
            self.codes[row] = self._one(pod, table, row, self._state)
        else:
            self.update(pod, table, np.asarray([row], np.intp))


class ScoreColumn:
    """One plugin's raw scores; None where its PreScore skips it."""

    def __init__(self, call: ScoreCall, asks_first: bool) -> None:
        self.call = call
        self._asks_first = asks_first
        self.raw: NDArray[np.int64] | None = None
        self.failure: Status | None = None
        self.depends: Any = None
        self.is_flat = False
        """Whether every node has 0: then normalisation gives a constant."""
        self.flat_value = 0
        self.is_in_range = True
        self._state: Any = None
        self._one: Callable[..., int] | None = getattr(call.plugin, "score_row", None)

    @property
    def state(self) -> Any:
        return self._state

    def make(self, pod: PodInfo, table: NodeTable, cycle: CycleState) -> None:
        self.depends = self.call.plugin.depends_on()
        self.raw = self.failure = None
        plugin = self.call.plugin
        self._state = MISSING if hasattr(plugin, "pre_score") else cycle.of(self.call.name)
        if self._asks_first:
            self._state = plugin.pre_score(pod, table.all())  # type: ignore[attr-defined]
            if isinstance(self._state, Status):
                if self._state.code != Code.SKIP:
                    self.failure = self._state
                return
        scores = self.call(pod, table.all(), self._state)
        if isinstance(scores, Status):
            self.failure = scores
            return
        scores = np.zeros(table.size, np.int64) if scores is None else scores
        self.raw = scores
        self.is_flat = not scores.any()
        if self.is_flat and self.call.normalize is not None:
            self.flat_value = int(self.call.normalize(pod, table.all(), np.zeros(1, np.int64), self._state)[0])
        self.is_in_range = _in_range(scores)

    def update(self, pod: PodInfo, table: NodeTable, rows: Rows) -> None:
        if self.raw is not None:
            scores = self.call(pod, table.take(rows), self._state)
            self.raw[rows] = 0 if scores is None else scores
            self.is_flat = self.is_flat and not self.raw[rows].any()
            self.is_in_range = self.is_in_range and _in_range(self.raw[rows])

    def update_row(self, pod: PodInfo, table: NodeTable, row: int) -> None:
        """One row; a plugin may have a way of its own for that."""
        assert self.raw is not None
        if self._one is None:
            self.update(pod, table, np.asarray([row], np.intp))
            return
        value = self._one(pod, table, row, self._state)
        self.raw[row] = value
        self.is_flat = self.is_flat and value == 0
        self.is_in_range = self.is_in_range and 0 <= value <= MAX_NODE_SCORE


def _in_range(scores: NDArray[np.int64]) -> bool:
    return bool(((scores >= 0) & (scores <= MAX_NODE_SCORE)).all())


class ColumnCache:
    """The columns of the shapes seen last."""

    def __init__(self, table: NodeTable, keep: bool = True) -> None:
        self._table = table
        self._keep = keep
        self._columns: dict[tuple[str, PodShape], ShapeColumns] = {}
        self._dropped_rows = 0

    @property
    def rows_evaluated(self) -> int:
        """How many rows were asked for in all."""
        return self._dropped_rows + sum(columns.rows_evaluated for columns in self._columns.values())

    def columns(self, framework: Framework, pod: PodInfo, cycle: CycleState) -> ShapeColumns:
        """The columns for a pod, up to date."""
        key = (framework.name, pod.shape)
        found = self._columns.pop(key, None) if self._keep else None
        if found is None:
            found = ShapeColumns(framework, self._table)
            while len(self._columns) >= self._room():
                self._forget(next(iter(self._columns)))
        found.refresh(pod, cycle)
        self._columns[key] = found
        return found

    def _room(self) -> int:
        """How many shapes are remembered."""
        if not self._keep:
            return 1
        return min(max(MOST_ROWS // max(self._table.size, 1), FEWEST_SHAPES), MOST_SHAPES)

    def _forget(self, key: tuple[str, PodShape]) -> None:
        self._dropped_rows += self._columns.pop(key).rows_evaluated

    def clear(self) -> None:
        """Forgets everything, e.g. when profiles change."""
        for key in list(self._columns):
            self._forget(key)
