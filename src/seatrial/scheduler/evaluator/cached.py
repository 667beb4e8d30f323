"""CachedEvaluator: answers as PlainEvaluator does, from kept columns.

The search goes along the order in pieces. Cached verdicts are read off their columns; filters that depend on more than
the row are called for the nodes of the piece only. The plugin that rejected a node is worked out on demand, since most
cycles need the feasible nodes only. If columns alone decide, the feasible index gives the answer without a search.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.scheduler.cache.node_table import NO_ROWS, Mask, NodeTable, Rows
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.evaluator.column_cache import ColumnCache, ShapeColumns
from seatrial.scheduler.evaluator.column_scores import score_by_columns
from seatrial.scheduler.evaluator.first_of_shape import first_search, first_totals, next_step
from seatrial.scheduler.evaluator.interface import Counted, Explained, Found
from seatrial.scheduler.evaluator.nominated_rows import Failing, NominatedRows
from seatrial.scheduler.evaluator.row_outcomes import UNKNOWN, RowVerdicts
from seatrial.scheduler.evaluator.shortcuts import ALL, Shortcuts
from seatrial.scheduler.framework.cluster import Nominator
from seatrial.scheduler.framework.plugin_calls import FilterCall
from seatrial.scheduler.framework.row_rules import DomainCheck
from seatrial.scheduler.framework.runtime import CycleState, Framework
from seatrial.scheduler.framework.scoring import Scored, run_scores
from seatrial.scheduler.framework.status import MISSING, Code, Status, Verdicts

ONE_BY_ONE_PIECE = 32
Calls = Sequence[tuple[int, FilterCall]]


@dataclass(slots=True)
class _Piece:
    """A part of the search: its rows, which of them pass, and the answers that come from no column."""

    rows: Rows
    passed: Mask
    asked: Mapping[int, Verdicts]
    failing: Failing | None = None
    """those that fail with the pods nominated to them"""

    @property
    def feasible(self) -> Rows:
        return self.rows[self.passed]

    def cut(self, end: int) -> "_Piece":
        """The piece up to a position."""
        asked = {index: Verdicts(v.codes[:end], v.meaning, v.has_errors) for index, v in self.asked.items()}
        failing = None if self.failing is None else self.failing.cut(end)
        return _Piece(self.rows[:end], self.passed[:end], asked, failing)


class CachedFound(Found, eq=False, kw_only=True):
    """A search answered from columns."""

    columns: ShapeColumns
    scored: Scored | None = None
    """the scores of the feasible nodes, if they are known already"""
    by_columns: bool = False
    """whether nothing but the columns has rejected nodes, and their first rejections are kept"""

    def counted(self) -> Counted:
        if self.by_columns:
            return self.columns.rejections().counted(self.visited, len(self.visited) - len(self.feasible))
        return super().counted()


@dataclass(slots=True)
class _Search:
    """One search in progress."""

    framework: Framework
    pod: PodInfo
    cycle: CycleState
    columns: ShapeColumns
    calls: Calls
    nominated: Mask | None
    """the rows of nodes with nominated pods"""
    pieces: list[_Piece]
    has_rejections: bool
    error: Status | None = None

    def found(self, stops_at_errors: bool) -> CachedFound:
        pieces = self.pieces
        visited = pieces[0].rows if len(pieces) == 1 else np.concatenate([p.rows for p in pieces] or [NO_ROWS])
        feasible = pieces[0].feasible if len(pieces) == 1 else np.concatenate([p.feasible for p in pieces] or [NO_ROWS])
        processed = len(visited) - (self.error is not None and stops_at_errors)
        explain = lambda: self._explain(visited)  # noqa: E731
        return CachedFound(
            self.framework, self.pod, self.cycle, self.columns.table, visited, feasible, processed, explain, self.error,
            columns=self.columns, by_columns=self._is_by_columns,
        )  # fmt: skip

    @property
    def _is_by_columns(self) -> bool:
        return self.has_rejections and not self.calls and self.nominated is None

    def _explain(self, visited: Rows) -> Explained:
        if self._is_by_columns:
            return self.columns.rejections().explain(visited)
        return _explain(self.framework, self.columns, self.pieces)


class CachedEvaluator:
    """Implements `Evaluator` for one table."""

    def __init__(
        self, table: NodeTable, nominator: Nominator, shortcuts: Shortcuts = ALL, *, stops_at_errors: bool = True
    ) -> None:
        self._table, self._nominator = table, nominator
        self._stops_at_errors = stops_at_errors
        self._has_index, self._has_domain_index = shortcuts.feasible_index, shortcuts.domain_index
        self._has_rejections, self._has_first_of_shape = shortcuts.rejections, shortcuts.first_of_shape
        self._keeps_outcomes = shortcuts.nominated
        self._cache = ColumnCache(table, shortcuts)
        self._nominated = NominatedRows(table, nominator)
        self._rows_asked = 0
        self._order: Rows = NO_ROWS
        self._twice: Rows = NO_ROWS

    @property
    def rows_evaluated(self) -> int:
        return self._cache.rows_evaluated + self._rows_asked

    def feasible(
        self, framework: Framework, pod: PodInfo, cycle: CycleState, order: Rows, start: int, limit: int
    ) -> Found:
        self._take_order(order)
        nominated = self._nominated.for_pod(pod)
        first = self._first_search(framework, pod, cycle, start, limit) if nominated is None else None
        if first is not None:
            return first
        columns = self._cache.columns(framework, pod, cycle)
        calls = uncached_calls(framework, pod, cycle)
        if nominated is None and not columns.has_errors and order is self._table.order:
            read = self._read_off(pod, cycle, columns, calls, start, limit)
            if read is not None:
                feasible, visited = read
                rows = self._twice[start : start + visited]
                explain = partial(self._explain_found, framework, pod, cycle, columns, calls, rows, feasible)
                return CachedFound(
                    framework, pod, cycle, self._table, rows, feasible, visited, explain,
                    columns=columns, by_columns=self._has_rejections and not calls,
                )  # fmt: skip
        search = _Search(framework, pod, cycle, columns, calls, nominated, [], self._has_rejections)
        if order is self._table.order and nominated is not None and framework.is_in_tree:
            around = self._around_nominated(search, start, limit)
            if around is not None:
                return around
        self._search(search, self._twice[start : start + len(order)], limit)
        return search.found(self._stops_at_errors)

    def _first_search(
        self, framework: Framework, pod: PodInfo, cycle: CycleState, start: int, limit: int
    ) -> Found | None:
        """The outcome of a search for the first pod of a shape; None if columns are to be made."""
        if not self._has_first_of_shape or not framework.is_in_tree or not self._cache.is_first(framework, pod.shape):
            return None
        rows = self._twice[start : start + len(self._order)]
        found = first_search(framework, pod, cycle, self._table, rows, limit)
        self._rows_asked += 0 if found is None else len(found.visited)
        return found

    def _read_off(
        self, pod: PodInfo, cycle: CycleState, columns: ShapeColumns, calls: Calls, start: int, limit: int
    ) -> tuple[Rows, int] | None:
        """The feasible rows and how many are visited, by an index; None if no index has them."""
        order = self._table.order
        if not calls:
            return columns.indexes.passing(order).find(start, limit) if self._has_index else None
        checks = domain_checks(pod, cycle, calls) if self._has_domain_index else None
        if checks is None:
            return None
        index = columns.indexes.in_domains(order, pod.shape.shared)
        changed = index.rows_changed
        found = index.find(checks, start, limit)
        self._rows_asked += index.rows_changed - changed
        return found

    def _around_nominated(self, search: _Search, start: int, limit: int) -> Found | None:
        """The search read off the index, without the nodes on which there is no room beside the nominated pods.

        None if other filters have to be asked, or if the pod is itself nominated.
        """
        table, columns = self._table, search.columns
        is_kept = self._has_index and self._keeps_outcomes and self._has_rejections
        if not is_kept or search.calls or columns.has_errors or self._nominator.node_of(search.pod):
            return None
        kept, rows = self._kept_with_nominated(search), self._nominated.rows
        unknown = rows[kept.codes[rows] == UNKNOWN]
        judged = self._nominated.judge(search.framework, search.pod, search.cycle, unknown)
        for row, (status, is_of_row) in zip(unknown, judged, strict=True):
            if not is_of_row:
                return None
            kept.codes[row] = kept.number(status)
        if any(status.code == Code.ERROR for status in kept.statuses):
            return None
        failing = rows[kept.codes[rows] > 0]
        passing, visited = columns.indexes.passing(table.order), len(table.order)
        feasible, _ = passing.find(start, limit + 1 + len(failing))
        if len(failing):
            has_room = np.ones(table.size, np.bool_)
            has_room[failing] = False
            feasible = feasible[has_room[feasible]]
        if len(feasible) > limit:
            visited = (passing.place(feasible.item(limit)) - start) % visited
            feasible = feasible[:limit]
        searched = self._twice[start : start + visited]
        explain = partial(_explain_around, columns, searched, failing, kept)
        return CachedFound(
            search.framework, search.pod, search.cycle, table, searched, feasible, visited, explain, columns=columns
        )

    def _take_order(self, order: Rows) -> None:
        if self._order is not order:
            self._order, self._twice = order, np.concatenate((order, order))

    def _explain(self, framework: Framework, columns: ShapeColumns, rows: Rows) -> Explained:
        if self._has_rejections:
            return columns.rejections().explain(rows)
        return _explain(framework, columns, (_Piece(rows, ~columns.blocked[rows], {}),))

    def _explain_found(
        self,
        framework: Framework,
        pod: PodInfo,
        cycle: CycleState,
        columns: ShapeColumns,
        calls: Calls,
        visited: Rows,
        feasible: Rows,
    ) -> Explained:
        """The verdicts of a search that asked no plugin; the filters without columns are called only now."""
        if not calls:
            return self._explain(framework, columns, visited)
        passed = np.zeros(self._table.size, np.bool_)
        passed[feasible] = True
        nodes = self._table.take(visited)
        asked = {index: call(pod, nodes, cycle.of(call.name)) for index, call in calls}
        answers = {index: verdicts for index, verdicts in asked.items() if verdicts is not None}
        return _explain(framework, columns, (_Piece(visited, passed[visited], answers),))

    def totals(self, found: Found, rows: Rows, parts: bool) -> Scored:
        if not isinstance(found, CachedFound):
            self._rows_asked += len(rows)
            scores = run_scores if parts else first_totals
            return scores(found.framework, found.pod, self._table.take(rows), found.cycle)
        return score_by_columns(found, self._table.take(rows), found.columns, parts)

    def _search(self, search: _Search, rows: Rows, limit: int) -> None:
        """Goes along the rows piece by piece."""
        is_slow = any(call.one_by_one for _, call in search.calls)
        start, wanted = 0, limit
        step = ONE_BY_ONE_PIECE if is_slow else limit + limit // 8 + 1 if search.calls else 2 * limit + 1
        has_errors = search.columns.has_errors
        while start < len(rows) and wanted >= 0:
            piece = self._piece(search, rows[start : start + step])
            has_errors |= any(verdicts.has_errors for verdicts in piece.asked.values())
            has_errors |= piece.failing is not None and piece.failing.may_have_errors
            start += step
            wanted = self._take(search, piece, wanted, has_errors)
            if not is_slow:
                step = next_step(step, start, limit - wanted, wanted)

    def _piece(self, search: _Search, rows: Rows) -> _Piece:
        passed = ~search.columns.blocked[rows]
        failing = self._fail_with_nominated(search, rows) if search.nominated is not None else None
        if failing is not None:
            passed &= failing.codes == 0
        asked: dict[int, Verdicts] = {}
        if not search.calls:
            return _Piece(rows, passed, asked, failing)
        nodes = self._table.take(rows)
        for index, call in search.calls:
            want = self._still_passing(search, rows, asked, index) if call.one_by_one else None
            answer = call(search.pod, nodes, search.cycle.of(call.name), want)
            self._rows_asked += len(rows)
            if answer is not None:
                asked[index] = answer
                passed &= answer.codes == 0
        return _Piece(rows, passed, asked, failing)

    def _still_passing(self, search: _Search, rows: Rows, asked: Mapping[int, Verdicts], index: int) -> Mask:
        """The nodes that no filter before `index` has rejected: only those are passed to a filter of single nodes."""
        passing = np.ones(len(rows), np.bool_)
        for before in range(index):
            column = search.columns.filter_column(search.framework.filters[before].name)
            if column is not None and column.codes is not None:
                passing &= column.codes[rows] == 0
            elif before in asked:
                passing &= asked[before].codes == 0
        return passing

    def _take(self, search: _Search, piece: _Piece, wanted: int, has_errors: bool) -> int:
        """Adds a piece, cut off where the search ends; the number of feasible nodes still wanted (-1: finished)."""
        places = np.flatnonzero(piece.passed)
        if len(places) > wanted:
            piece = piece.cut(int(places[wanted]))
            wanted = -1
        else:
            wanted -= len(places)
        if has_errors and search.error is None:
            place, search.error = _first_error(search, piece)
            if search.error is not None and self._stops_at_errors:
                piece, wanted = piece.cut(place + 1), -1
        search.pieces.append(piece)
        return wanted

    def _fail_with_nominated(self, search: _Search, rows: Rows) -> Failing | None:
        """Which of the rows fail with the pods nominated to them; None if none has such pods."""
        assert search.nominated is not None
        places = np.flatnonzero(search.nominated[rows])
        if not len(places):
            return None
        kept = self._kept_with_nominated(search)
        own = self._table.row_of.get(self._nominator.node_of(search.pod), -1)
        known = kept.codes[rows[places]]
        known[rows[places] == own] = UNKNOWN
        codes = np.zeros(len(rows), np.int32)
        codes[places] = known
        unknown: list[int] = places[known == UNKNOWN].tolist()
        judged = self._nominated.judge(search.framework, search.pod, search.cycle, rows[unknown])
        for place, (status, is_of_row) in zip(unknown, judged, strict=True):
            codes[place] = number = kept.number(status)
            if is_of_row and rows[place] != own:
                kept.codes[rows[place]] = number
        return Failing(codes, kept.statuses)

    def _kept_with_nominated(self, search: _Search) -> RowVerdicts:
        """The verdicts kept for the shape; none where a filter depends on more than rows."""
        columns = search.columns
        if search.calls or not self._keeps_outcomes:
            return RowVerdicts(self._table, self._nominator)
        if columns.with_nominated is None:
            columns.with_nominated = RowVerdicts(self._table, self._nominator)
        columns.with_nominated.refresh()
        return columns.with_nominated


def uncached_calls(framework: Framework, pod: PodInfo, cycle: CycleState) -> Calls:
    """The filters without columns that are not skipped in this cycle."""
    return [
        (index, call)
        for index, call in framework.uncached_filters
        if call.name not in cycle.skipped and (call.concerns is None or call.concerns(pod))
    ]


def domain_checks(pod: PodInfo, cycle: CycleState, calls: Calls) -> list[DomainCheck] | None:
    """The filters as checks of topology domains; None if one of them is something else."""
    checks: list[DomainCheck] = []
    for _, call in calls:
        describe = getattr(call.plugin, "domain_checks", None)
        state = cycle.of(call.name)
        if describe is None or not call.is_in_tree or state is MISSING:
            return None
        checks += describe(pod, state)
    return checks


def _first_error(search: _Search, piece: _Piece) -> tuple[int, Status | None]:
    """The first node of a piece whose filter failed: its position and the failure."""
    codes, statuses = _explain(search.framework, search.columns, (piece,))
    failed = [number + 1 for number, status in enumerate(statuses) if status.code == Code.ERROR]
    for place, code in enumerate(codes.tolist()) if failed else ():
        if code in failed:
            return place, statuses[code - 1]
    return -1, None


def _explain_around(columns: ShapeColumns, rows: Rows, failing: Rows, kept: RowVerdicts) -> Explained:
    """The verdicts of the columns, but for nodes without room beside the pods nominated to them."""
    codes, statuses = columns.rejections().explain(rows)
    if not len(failing):
        return codes, statuses
    numbers = {status: number for number, status in enumerate(statuses, 1)}
    of_nominated = np.zeros(columns.size, np.int32)
    of_nominated[failing] = kept.codes[failing]
    Failing(of_nominated[rows], kept.statuses).number(codes, numbers)
    return _in_order_of_occurrence(codes, tuple(numbers))


def _explain(framework: Framework, columns: ShapeColumns, pieces: Sequence[_Piece]) -> Explained:
    numbers: dict[Status, int] = {}
    codes = [_explain_piece(framework, columns, piece, numbers) for piece in pieces]
    joined = codes[0] if len(codes) == 1 else np.concatenate(codes or [np.zeros(0, np.int32)])
    return _in_order_of_occurrence(joined, tuple(numbers))


def _explain_piece(
    framework: Framework, columns: ShapeColumns, piece: _Piece, numbers: dict[Status, int]
) -> NDArray[np.int32]:
    codes = np.zeros(len(piece.rows), np.int32)
    left = ~piece.passed
    if piece.failing is not None:
        piece.failing.number(codes, numbers)
        left &= piece.failing.codes == 0
    for index, call in enumerate(framework.filters):
        if not left.any():
            break
        column = columns.filter_column(call.name)
        if column is not None and column.codes is not None:
            own, meaning = column.codes[piece.rows], column.meaning
        elif index in piece.asked:
            own, meaning = piece.asked[index].codes, piece.asked[index].meaning
        else:
            continue
        rejected = left & (own != 0)
        for code in _distinct(own[rejected]):
            assert meaning is not None
            number = numbers.setdefault(call.signed(meaning(code)), len(numbers) + 1)
            codes[rejected & (own == code)] = number
        left &= ~rejected
    return codes


def _in_order_of_occurrence(codes: NDArray[np.int32], statuses: tuple[Status, ...]) -> Explained:
    """Numbers the statuses by the first node that has them, as a search node by node would."""
    if not statuses:
        return codes, statuses
    counts = np.bincount(codes, minlength=len(statuses) + 1)
    first = {place: int((codes == place + 1).argmax()) for place in range(len(statuses)) if counts[place + 1]}
    order = sorted(first, key=first.__getitem__)
    numbers = np.zeros(len(statuses) + 1, np.int32)
    numbers[[place + 1 for place in order]] = range(1, len(order) + 1)
    return numbers[codes], tuple(statuses[place] for place in order)


def _distinct(codes: NDArray[np.signedinteger[Any]]) -> list[int]:
    """The different codes, ascending. (The first call of NumPy's `unique` imports slowly.)"""
    ordered = np.sort(codes)
    listed: list[int] = ordered[np.flatnonzero(np.diff(ordered, prepend=0))].tolist()
    return listed
