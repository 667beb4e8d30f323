"""Columns that all pods of a shape share: filter verdicts and local scores, updated row by row.

A plugin declares what its answer for a node depends on (`Reads`). Answers that depend on the node, or on the node and
its pods, are kept per profile and shape; after a change of the table only the changed rows are computed again. Answers
that depend on more are not kept, nor are failures. Shapes for which a plugin has the same state may share its column;
those that differ in labels, owner, inter-pod affinity or spread constraints only share all columns, since in-tree
plugins with columns read nothing of these.
"""

from collections.abc import Callable, MutableMapping, Sequence
from typing import Any, ClassVar, TypeVar, cast
from weakref import WeakValueDictionary

import numpy as np

from seatrial.scheduler.cache.node_table import Ints, Mask, NodeTable, Rows
from seatrial.scheduler.cache.pod_info import PodInfo, PodShape
from seatrial.scheduler.evaluator.indexes import Indexes
from seatrial.scheduler.evaluator.plugin_column import (
    NO_CHANGES,
    FilterColumn,
    Overtaken,
    ScoreColumn,
    changed_rows,
    filter_column,
)
from seatrial.scheduler.evaluator.rejections import Rejections
from seatrial.scheduler.evaluator.row_outcomes import RowVerdicts
from seatrial.scheduler.evaluator.shortcuts import ALL, Shortcuts
from seatrial.scheduler.framework.interface import Plugin, Reads
from seatrial.scheduler.framework.plugin_calls import ScoreCall
from seatrial.scheduler.framework.runtime import CycleState, Framework
from seatrial.scheduler.framework.status import MISSING, Code, Status

FEWEST_SHAPES, MOST_SHAPES = 16, 1024
FEW_ROWS = 4
"""Up to how many changed rows are asked for one by one."""
MOST_ROWS = 1 << 20
"""How many rows the columns of all shapes together may have: one takes about 80 bytes."""
C = TypeVar("C", FilterColumn, ScoreColumn)
Key = tuple[str, PodShape | bytes]
"""Of columns: the profile, and what its plugins see of a pod."""
Shared = MutableMapping[Any, Any]
"""Columns by kind, profile, plugin and state."""


class ShapeColumns:
    """Filter codes and raw scores of one shape in one profile, over all rows of the table."""

    by_spec: ClassVar = True
    """Whether shapes may share them of which plugins see the same for a row."""

    def __init__(self, framework: Framework, table: NodeTable, shared: "Shared | None", single_rows: bool) -> None:
        self.table = table
        self._few_rows = FEW_ROWS if single_rows else 0
        self.size = -1
        self.mark = 0
        self._profile = framework.name
        self._pre_scorers = framework.pre_scorers
        self._shared = shared
        self.filters = [filter_column(call) for call in framework.filters if call.is_cached]
        pre_scorers = dict(framework.pre_scorers)
        self.scores = [ScoreColumn(call, pre_scorers.get(call.name)) for call in framework.scorers if call.is_cached]
        self.blocked: Mask = np.zeros(0, np.bool_)
        self.indexes = Indexes(table, self.blocked)
        self.local: Ints = np.zeros(0, np.int64)
        """Sum of the weighted scores that need no normalisation."""
        self.rows_evaluated = 0
        self._index()
        self._unsettled: list[ScoreCall] | None = None
        self._flags: list[tuple[bool, bool]] = []
        self.settled = 0
        self._scorers = framework.scorers
        self.with_nominated: RowVerdicts | None = None
        """Verdicts on nodes with the pods nominated to them."""

    def _index(self) -> None:
        """Indexes the columns after some were replaced."""
        self._all: list[FilterColumn | ScoreColumn] = [*self.filters, *self.scores]
        self._by_name = {column.call.name: column for column in self.filters}
        self._scores_by_name = {column.call.name: column for column in self.scores}
        self._joint = [(column, column.generation) for column in self._all if column.is_shared]
        self._own = [column for column in self._all if not column.is_shared and not column.is_empty]
        self._own_of_pods = [column for column in self._own if column.call.reads != Reads.NODE]
        self._moving = [
            c for c in self._all if not c.is_shared and type(c.call.plugin).depends_on is not Plugin.depends_on
        ]
        self._blocking = [column.codes for column in self.filters if column.codes is not None]
        self._adding = [
            (score.raw, score.call.weight)
            for score in self.scores
            if score.raw is not None and score.call.normalize is None
        ]
        self.has_errors = any(column.has_errors for column in self.filters)
        self._has_failed = any(column.has_failed for column in self._all if not column.is_shared)
        self._rejections: Rejections | None = None
        self._index_states()

    def _index_states(self) -> None:
        """Sorts the PreScore answers of cached plugins: states, skips, and failures in the order of the plugins."""
        self.pre_states: dict[str, Any] = {}
        self.pre_skipped: tuple[str, ...] = ()
        self.asks_first: list[tuple[str, Callable[..., Any]]] = []
        for name, ask in self._pre_scorers:
            column = self._scores_by_name.get(name)
            if column is None:
                self.asks_first.append((name, ask))
            elif not isinstance(column.state, Status):
                self.pre_states[name] = column.state
            elif column.state.code == Code.SKIP:
                self.pre_skipped += (name,)
            else:
                self.asks_first.append((name, lambda pod, nodes, failure=column.state: failure))

    def filter_column(self, name: str) -> FilterColumn | None:
        return self._by_name.get(name)

    def score_column(self, name: str) -> ScoreColumn | None:
        return self._scores_by_name.get(name)

    def unsettled(self, pod: PodInfo) -> Sequence[ScoreCall]:
        """The scorers that must be asked for each pod; `settled` is what those with one score for all nodes add.

        `pod` is one of these; a scorer that has nothing to score for it has none for the others.
        """
        flags = [(score.is_flat, score.is_in_range) for score in self.scores]
        if self._unsettled is None or flags != self._flags:
            self._flags = flags
            self.settled = 0
            self._unsettled = [call for call in self._scorers if not self._settles(call, pod)]
        return self._unsettled

    def _settles(self, call: ScoreCall, pod: PodInfo) -> bool:
        column = self._scores_by_name.get(call.name)
        if column is None:
            return call.scores_nothing is not None and call.scores_nothing(pod)
        if column.failure is not None:
            return False
        if column.raw is None:
            return True
        if call.normalize is None:
            return column.is_in_range
        if column.is_flat:
            self.settled += call.flat_score * call.weight
        return column.is_flat

    def rejections(self) -> Rejections:
        """The first rejection of each row."""
        if self._rejections is None:
            self._rejections = Rejections(self.filters, self.size)
        return self._rejections

    def refresh(self, pod: PodInfo, cycle: CycleState) -> None:
        """Brings all columns up to date with the table."""
        table = self.table
        since = self.mark
        # Columns that are computed from scratch do not need the log.
        is_told = since != table.mark and self.size == table.size
        changes = changed_rows(table, since) if is_told else NO_CHANGES
        for shared, _ in self._joint:
            shared.catch_up(pod, table, cycle, since if is_told else -1, changes, self._few_rows)
        if self.size != table.size or self._moved():
            self.mark = table.mark
            self._make(pod, cycle)
            return
        if since == table.mark:
            return
        self.mark, node_rows, rows = changes
        if node_rows is None:
            self._make(pod, cycle)
            return
        self.rows_evaluated += len(rows)
        try:
            self._update(pod, node_rows, rows)
        except Overtaken:
            self._make(pod, cycle)

    def _update(self, pod: PodInfo, node_rows: set[int], rows: list[int]) -> None:
        if len(rows) <= self._few_rows:
            for row in rows:
                self._update_row(pod, row, row in node_rows)
            return
        places = np.asarray(rows, np.intp)
        nodes = np.asarray([row for row in rows if row in node_rows], np.intp)
        for column in self._own:
            own = nodes if column.call.reads == Reads.NODE else places
            if len(own):
                column.update(pod, self.table, own)
        self._join(places)

    def _update_row(self, pod: PodInfo, row: int, node_changed: bool) -> None:
        """One row, without the cost of starting NumPy for it."""
        for column in self._own if node_changed else self._own_of_pods:
            column.update_row(pod, self.table, row)
        blocked = False
        for codes in self._blocking:
            blocked = blocked or codes.item(row) != 0
        if blocked != self.blocked.item(row):
            self.blocked[row] = blocked
            self.indexes.change((row,))
        if self._rejections is not None:
            self._rejections.update_row(row)
        local = 0
        for raw, weight in self._adding:
            local += raw.item(row) * weight
        self.local[row] = local

    def _moved(self) -> bool:
        """Whether something changed that the log of rows does not show; a shared column changes its generation."""
        if self._has_failed:
            return True
        for shared, known in self._joint:
            if shared.generation != known:
                return True
        return bool(self._moving) and any(column.depends != column.depends_on() for column in self._moving)

    def _make(self, pod: PodInfo, cycle: CycleState) -> None:
        self.size = self.table.size
        self.with_nominated = None
        self._unsettled = None
        self.filters = [self._made(column, pod, cycle) for column in self.filters]
        self.scores = [self._made(column, pod, cycle) for column in self.scores]
        self._index()
        self.rows_evaluated += self.size
        self.blocked, self.local = self._joined(slice(None), self.size)
        self.indexes = Indexes(self.table, self.blocked)

    def _made(self, column: C, pod: PodInfo, cycle: CycleState) -> C:
        """The column computed from scratch, or that of another shape with the same state."""
        shares = self._shared is not None and column.call.plugin.by_state
        state = column.state_of(pod, self.table, cycle) if shares else MISSING
        if self._shared is None or state is MISSING:
            own = column.blank() if column.is_shared else column
            own.make(pod, self.table, cycle)
            return own
        key = (type(column), self._profile, column.call.name, state)
        found = self._shared.get(key)
        if found is None:
            found = self._shared[key] = column.blank()
            found.is_shared = True
            found.make(pod, self.table, cycle)
        else:
            found.catch_up(pod, self.table, cycle, -1, NO_CHANGES, self._few_rows)
        return cast(C, found)

    def _join(self, rows: Rows) -> None:
        blocked, self.local[rows] = self._joined(rows, len(rows))
        self.indexes.change(rows[blocked != self.blocked[rows]].tolist())
        self.blocked[rows] = blocked
        if self._rejections is not None:
            self._rejections.update(rows)

    def _joined(self, rows: Rows | slice, number: int) -> tuple[Mask, Ints]:
        """Which of some rows a column rejects, and the sums of their scores."""
        blocked, local = np.zeros(number, np.bool_), np.zeros(number, np.int64)
        for codes in self._blocking:
            blocked |= codes[rows] != 0
        for raw, weight in self._adding:
            local += raw[rows] if weight == 1 else raw[rows] * weight
        return blocked, local


class ColumnCache:
    """The columns of the shapes seen last."""

    def __init__(self, table: NodeTable, shortcuts: Shortcuts = ALL, kind: type[ShapeColumns] = ShapeColumns) -> None:
        self._table = table
        self._kind = kind
        self._columns: dict[Key, ShapeColumns] = {}
        self._met: dict[Key, None] = {}
        """Shapes that were met once; they may have no columns yet."""
        self._shared: Shared | None = WeakValueDictionary() if shortcuts.shared_states else None
        self._by_spec = shortcuts.shared_states and kind.by_spec
        self._single_rows = shortcuts.single_rows
        self._dropped_rows = 0

    @property
    def rows_evaluated(self) -> int:
        """How many rows were asked for in all."""
        return self._dropped_rows + sum(columns.rows_evaluated for columns in self._columns.values())

    def columns(self, framework: Framework, pod: PodInfo, cycle: CycleState) -> ShapeColumns:
        """The columns for a pod, up to date."""
        key = self._key(framework, pod.shape)
        found = self._columns.pop(key, None)
        if found is None:
            found = self._kind(framework, self._table, self._shared, self._single_rows)
            while len(self._columns) >= self._room():
                self._forget(next(iter(self._columns)))
        found.refresh(pod, cycle)
        self._columns[key] = found
        return found

    def is_first(self, framework: Framework, shape: PodShape) -> bool:
        """Whether a shape is met for the first time, or was forgotten."""
        key = self._key(framework, shape)
        if key in self._columns or key in self._met:
            return False
        self._met[key] = None
        if len(self._met) > MOST_SHAPES:
            del self._met[next(iter(self._met))]
        return True

    def known(self, framework: Framework, shape: PodShape) -> ShapeColumns | None:
        """The columns of a shape as they were left; None if there are none."""
        key = self._key(framework, shape)
        found = self._columns.pop(key, None)
        if found is not None:
            self._columns[key] = found
        return found

    def _room(self) -> int:
        """How many shapes are remembered."""
        return min(max(MOST_ROWS // max(self._table.size, 1), FEWEST_SHAPES), MOST_SHAPES)

    def _key(self, framework: Framework, shape: PodShape) -> Key:
        return framework.name, shape.shared.row_key if self._by_spec and framework.is_in_tree else shape

    def _forget(self, key: Key) -> None:
        self._dropped_rows += self._columns.pop(key).rows_evaluated
