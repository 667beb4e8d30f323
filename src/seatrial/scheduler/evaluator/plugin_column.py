"""One plugin's verdicts or raw scores for all rows of the table; changed rows are computed again.

A filter that answers None rejects no node at this moment, and is called again for changed rows; only a PreFilter that
skips it ends that. A failure is no fact about a row: a column with one is computed from scratch before its next use.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.scheduler.cache.node_table import NodeTable, Rows
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.framework.interface import MAX_NODE_SCORE, Plugin
from seatrial.scheduler.framework.plugin_calls import FilterCall, ScoreCall
from seatrial.scheduler.framework.runtime import CycleState
from seatrial.scheduler.framework.status import MISSING, SKIP, Code, Meaning, NumberedStatuses, Status, Verdicts

Changes = tuple[int, set[int] | None, list[int]]
NO_CHANGES: Changes = (0, set(), [])


def changed_rows(table: NodeTable, since: int) -> Changes:
    """What happened after a mark: the new mark, rows of changed nodes (None: too much) and all rows to ask for."""
    only = table.only_change(since)
    if only is not None and table.size // 4:
        row, is_node = only
        return table.mark, {row} if is_node else set(), [row] if table.infos[row] is not None else []
    mark, node_rows, pod_rows = table.changes(since)
    if node_rows is None or len(changed := node_rows | pod_rows) > table.size // 4:
        return mark, None, []
    return mark, node_rows, [row for row in sorted(changed) if table.infos[row] is not None]


class Overtaken(Exception):
    """An answer for some rows does not fit the kept answers for the others: all rows must be computed."""


class Column(ABC):
    """One plugin's answers for all rows. Shapes share it if the plugin depends on its state alone."""

    def __init__(self, plugin: Plugin) -> None:
        self.depends_on = plugin.depends_on
        self.depends: Any = None
        """What the plugin said it depends on when the column was made."""
        self.generation = 0
        """Grows whenever the whole column is computed."""
        self.is_shared = False
        self._size = -1
        self._mark = 0
        self._state: Any = None
        self._prepared: Callable[[int], int] | None = None
        """An in-tree plugin's answer for one row with this state; good until the size of the table changes."""

    @property
    @abstractmethod
    def is_empty(self) -> bool:
        """Whether the plugin is skipped."""

    @property
    @abstractmethod
    def has_failed(self) -> bool:
        """Whether the plugin failed, so that its answer is good for one attempt only."""

    @abstractmethod
    def state_of(self, pod: PodInfo, table: NodeTable, cycle: CycleState) -> Any:
        """The state with which a pod would make the column."""

    @abstractmethod
    def make(self, pod: PodInfo, table: NodeTable, cycle: CycleState) -> None:
        """Asks for all rows."""

    @abstractmethod
    def update(self, pod: PodInfo, table: NodeTable, rows: Rows) -> None:
        """Asks for some rows; Overtaken where that is not enough."""

    @abstractmethod
    def update_row(self, pod: PodInfo, table: NodeTable, row: int) -> None:
        """Asks for one row; a plugin may have a way of its own for that."""

    def _begin(self, table: NodeTable) -> None:
        self.depends = self.depends_on()
        self.generation += 1
        self._size, self._mark = table.size, table.mark

    def catch_up(
        self, pod: PodInfo, table: NodeTable, cycle: CycleState, since: int, changes: Changes, few_rows: int
    ) -> None:
        """Brings a shared column up to date; `changes` are those of the table after a mark.

        Up to `few_rows` changed rows are asked for one by one.
        """
        if self._size != table.size or self.has_failed or self.depends != self.depends_on():
            self.make(pod, table, cycle)
            return
        if self._mark == table.mark:
            return
        self._mark, node_rows, rows = changes if self._mark == since else changed_rows(table, self._mark)
        if node_rows is None:
            self.make(pod, table, cycle)
            return
        try:
            self._take(pod, table, rows, few_rows)
        except Overtaken:
            self.make(pod, table, cycle)

    def is_up_to_date(self, mark: int) -> None:
        """Another part has brought the rows up to date with a mark of the table."""
        self._mark = mark

    def _take(self, pod: PodInfo, table: NodeTable, rows: list[int], few_rows: int) -> None:
        if len(rows) > few_rows:
            self.update(pod, table, np.asarray(rows, np.intp))
            return
        for row in rows:
            self.update_row(pod, table, row)


class FilterColumn(Column):
    """One filter's verdict codes; None where the plugin is skipped.

    What a code means depends on the shape alone; it is known once the filter has rejected a node.
    """

    def __init__(self, call: FilterCall) -> None:
        super().__init__(call.plugin)
        self.call = call
        self.codes: NDArray[np.int32] | None = None
        self.meaning: Meaning | None = None
        self.has_errors = False
        self._one: Callable[..., int] | None = getattr(call.plugin, "filter_row", None)

    @property
    def state(self) -> Any:
        return self._state

    @property
    def is_empty(self) -> bool:
        return self.codes is None

    @property
    def has_failed(self) -> bool:
        return self.has_errors

    def blank(self) -> "FilterColumn":
        return type(self)(self.call)

    def state_of(self, pod: PodInfo, table: NodeTable, cycle: CycleState) -> Any:
        return SKIP if self.call.name in cycle.skipped else cycle.of(self.call.name)

    def make(self, pod: PodInfo, table: NodeTable, cycle: CycleState) -> None:
        self._begin(table)
        self.codes = None
        self.has_errors = False
        self._prepared = None
        if self.call.name in cycle.skipped:
            return
        self._state = cycle.of(self.call.name)
        nodes = table.all()
        verdicts = self.call(pod, nodes, self._state)
        self._keep(Verdicts.all_pass(nodes) if verdicts is None else verdicts)
        prepare = getattr(self.call.plugin, "filter_rows", None) if self.call.is_in_tree else None
        if prepare is not None and self._state is not MISSING:
            self._prepared = prepare(table, self._state)

    def _keep(self, verdicts: Verdicts) -> None:
        self.codes, self.meaning, self.has_errors = verdicts.codes, verdicts.meaning, verdicts.has_errors

    def update(self, pod: PodInfo, table: NodeTable, rows: Rows) -> None:
        if self.codes is not None:
            verdicts = self.call(pod, table.take(rows), self._state)
            if verdicts is None:
                self.codes[rows] = 0
            else:
                self.codes[rows], self.meaning = verdicts.codes, verdicts.meaning

    def update_row(self, pod: PodInfo, table: NodeTable, row: int) -> None:
        if self._prepared is not None and self.codes is not None:
            self.codes[row] = self._prepared(row)
        elif self.codes is not None and self._one is not None:
            self.codes[row] = self._one(pod, table, row, self._state)
        else:
            self.update(pod, table, np.asarray([row], np.intp))


class UsersFilterColumn(FilterColumn):
    """The verdicts of a user's filter, whose codes may mean something else each time: they get numbers of our own."""

    def __init__(self, call: FilterCall) -> None:
        super().__init__(call)
        self._given: Meaning | None = None
        """What the plugin's own codes meant when it last rejected a node."""
        self._statuses = NumberedStatuses()
        self.meaning = self._statuses.meaning

    def _keep(self, verdicts: Verdicts) -> None:
        self.codes, self.has_errors = self._numbered(verdicts), verdicts.has_errors

    def update(self, pod: PodInfo, table: NodeTable, rows: Rows) -> None:
        if self.codes is None:
            return
        verdicts = self.call(pod, table.take(rows), self._state)
        if verdicts is not None and verdicts.has_errors:
            raise Overtaken
        self.codes[rows] = 0 if verdicts is None else self._numbered(verdicts)

    def update_row(self, pod: PodInfo, table: NodeTable, row: int) -> None:
        if self.codes is None or self._one is None:
            self.update(pod, table, np.asarray([row], np.intp))
            return
        code = self._one(pod, table, row, self._state)
        if not code:
            self.codes[row] = 0
        elif self._given is not None:
            self.codes[row] = self._statuses.number(self._given(code))
        else:
            self.update(pod, table, np.asarray([row], np.intp))

    def _numbered(self, verdicts: Verdicts) -> NDArray[np.int32]:
        given: list[int] = verdicts.codes.tolist()
        if any(given):
            self._given = verdicts.meaning
        number, meaning = self._statuses.number, verdicts.meaning
        numbers = {code: number(meaning(code)) if code else 0 for code in dict.fromkeys(given)}
        return np.fromiter((numbers[code] for code in given), np.int32, len(given))


def filter_column(call: FilterCall) -> FilterColumn:
    """An empty column for the filter."""
    return FilterColumn(call) if call.is_in_tree else UsersFilterColumn(call)


class ScoreColumn(Column):
    """One plugin's raw scores; None where its PreScore skips it."""

    def __init__(self, call: ScoreCall, pre_score: Callable[..., Any] | None) -> None:
        super().__init__(call.plugin)
        self.call = call
        self._pre_score = pre_score
        self.raw: NDArray[np.int64] | None = None
        self.failure: Status | None = None
        self.is_flat = False
        """Whether every node has 0: then normalisation, unless it is a user's, gives `flat_score`."""
        self.is_in_range = True
        self._one: Callable[..., int] | None = getattr(call.plugin, "score_row", None)

    @property
    def state(self) -> Any:
        return self._state

    @property
    def is_empty(self) -> bool:
        return self.raw is None

    @property
    def has_failed(self) -> bool:
        return self.failure is not None

    def blank(self) -> "ScoreColumn":
        return ScoreColumn(self.call, self._pre_score)

    def state_of(self, pod: PodInfo, table: NodeTable, cycle: CycleState) -> Any:
        if self._pre_score is not None:
            return self._pre_score(pod, table.all())
        return MISSING if self.call.has_pre_score else cycle.of(self.call.name)

    def make(self, pod: PodInfo, table: NodeTable, cycle: CycleState) -> None:
        self._begin(table)
        self.raw = self.failure = self._prepared = None
        self._state = self.state_of(pod, table, cycle)
        if isinstance(self._state, Status):
            if self._state.code != Code.SKIP:
                self.failure = self._state
            return
        scores = self.call(pod, table.all(), self._state)
        if isinstance(scores, Status):
            self.failure = scores
            return
        if scores is None:
            scores = np.zeros(table.size, np.int64)
        elif not self.call.is_in_tree:
            scores = scores.copy()  # the plugin may keep its array
        self.raw = scores
        lowest, highest = _bounds(scores)
        self.is_flat = self.call.is_in_tree and lowest == highest == 0
        self.is_in_range = lowest >= 0 and highest <= MAX_NODE_SCORE
        prepare = getattr(self.call.plugin, "score_rows", None) if self.call.is_in_tree else None
        if prepare is not None:
            self._prepared = prepare(table, self._state)

    def update(self, pod: PodInfo, table: NodeTable, rows: Rows) -> None:
        if self.raw is not None:
            scores = self.call(pod, table.take(rows), self._state)
            if isinstance(scores, Status):
                raise Overtaken
            self.raw[rows] = 0 if scores is None else scores
            lowest, highest = (0, 0) if scores is None else _bounds(scores)
            self.is_flat = self.is_flat and lowest == highest == 0
            self.is_in_range = self.is_in_range and lowest >= 0 and highest <= MAX_NODE_SCORE

    def update_row(self, pod: PodInfo, table: NodeTable, row: int) -> None:
        if self.raw is None or self._one is None:
            self.update(pod, table, np.asarray([row], np.intp))
            return
        value = self._one(pod, table, row, self._state) if self._prepared is None else self._prepared(row)
        self.raw[row] = value
        self.is_flat = self.is_flat and value == 0
        self.is_in_range = self.is_in_range and 0 <= value <= MAX_NODE_SCORE


def _bounds(scores: NDArray[np.int64]) -> tuple[int, int]:
    """The lowest and the highest score, 0 among them."""
    return int(scores.min(initial=0)), int(scores.max(initial=0))
