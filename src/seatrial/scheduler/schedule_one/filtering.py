"""The search for feasible nodes: along the order, from where the last search ended, until there are enough.

The search goes in pieces of the order. Cached verdicts are read off their columns; plugins that depend on more than
the row are asked for the nodes of the piece only. Which plugin rejected a node is worked out when somebody wants to
know: in most cycles only the feasible nodes matter.

A node somebody of equal or higher priority is nominated to must pass with those pods and without them.

Upstream: pkg/scheduler/schedule_one.go (findNodesThatPassFilters), framework.go (RunFilterPluginsWithNominatedPods).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.scheduler.cache.node_info import NodeInfo
from seatrial.scheduler.cache.node_table import NO_ROWS, Mask, Nodes, NodeTable, Rows
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.evaluator.column_cache import ColumnCache, ShapeColumns
from seatrial.scheduler.framework.cluster import Nominator
from seatrial.scheduler.framework.interface import Reads
from seatrial.scheduler.framework.runtime import CycleState, FilterCall, Framework
from seatrial.scheduler.framework.status import SUCCESS, Code, Status, Verdicts

ONE_BY_ONE_PIECE = 32


@dataclass(slots=True)
class Judged:
    """Verdicts on the nodes of a view: who rejected each first."""

    framework: Framework
    rejecter: NDArray[np.int16]
    """0 passed, else 1 + index of the filter"""
    verdicts: list[Verdicts | None]
    _known: dict[tuple[int, int], Status] = field(default_factory=dict)

    @property
    def passed(self) -> Mask:
        mask: Mask = self.rejecter == 0
        return mask

    def status(self, place: int) -> Status:
        """The framework's status of one node."""
        index = int(self.rejecter[place])
        if not index:
            return SUCCESS
        verdicts = self.verdicts[index - 1]
        assert verdicts is not None
        key = (index, int(verdicts.codes[place]))
        if key not in self._known:
            self._known[key] = self.framework.filters[index - 1].signed(verdicts.status(place))
        return self._known[key]


def judge(framework: Framework, pod: PodInfo, nodes: Nodes, cycle: CycleState, least: Reads = Reads.NODE) -> Judged:
    """Asks the filters in order about every node of a view; a node that was rejected is not asked about again.

    `least` leaves out filters that depend on less: where only pods come and go, those that read nodes alone.
    """
    rejecter = np.zeros(len(nodes), np.int16)
    verdicts: list[Verdicts | None] = []
    for index, call in enumerate(framework.filters):
        if call.reads < least or call.name in cycle.skipped or rejecter.all():
            verdicts.append(None)
            continue
        answer = call(pod, nodes, cycle.of(call.name), rejecter == 0)
        verdicts.append(answer)
        if answer is not None:
            rejecter[(rejecter == 0) & (answer.codes != 0)] = index + 1
    return Judged(framework, rejecter, verdicts)


@dataclass(slots=True)
class _Piece:
    """A stretch of the search: its rows, who passed, and the answers that come from no column."""

    rows: Rows
    passed: Mask
    asked: Mapping[int, Verdicts]
    nominees: Mapping[int, Status]
    """Places that fail with the pods nominated to them."""

    @property
    def feasible(self) -> Rows:
        return self.rows[self.passed]

    def cut(self, end: int) -> "_Piece":
        """The piece up to a place."""
        asked = {index: Verdicts(v.codes[:end], v.meaning, v.has_errors) for index, v in self.asked.items()}
        nominees = {place: status for place, status in self.nominees.items() if place < end}
        return _Piece(self.rows[:end], self.passed[:end], asked, nominees)


@dataclass(slots=True)
class Found:
    """The outcome of a search: the nodes visited, in order, and which of them are feasible."""

    framework: Framework
    table: NodeTable
    cycle: CycleState
    columns: ShapeColumns
    visited: int = 0
    pieces: list[_Piece] = field(default_factory=list)
    error: Status | None = None
    _read_off: tuple[Rows, Rows] | None = None
    """The rows visited and the feasible ones, where columns alone decided: then there are no pieces."""

    @property
    def rows(self) -> Rows:
        """The rows visited."""
        if self._read_off is not None:
            return self._read_off[0]
        return np.concatenate([piece.rows for piece in self.pieces] or [NO_ROWS])

    @property
    def feasible(self) -> Rows:
        """The feasible rows in the order found."""
        if self._read_off is not None:
            return self._read_off[1]
        if len(self.pieces) == 1:
            return self.pieces[0].feasible
        return np.concatenate([piece.feasible for piece in self.pieces] or [NO_ROWS])

    def explain(self) -> tuple[NDArray[np.int32], tuple[Status, ...]]:
        """For each visited node 0, or 1 + the index of its status; and those statuses."""
        statuses: dict[Status, int] = {}
        pieces = self.pieces
        if self._read_off is not None:
            rows = self._read_off[0]
            pieces = [_Piece(rows, ~self.columns.blocked[rows], {}, {})]
        codes = [self._explain(piece, statuses) for piece in pieces]
        return np.concatenate(codes or [np.zeros(0, np.int32)]), tuple(statuses)

    def _explain(self, piece: _Piece, statuses: dict[Status, int]) -> NDArray[np.int32]:
        codes = np.zeros(len(piece.rows), np.int32)
        left = ~piece.passed
        for place, status in piece.nominees.items():
            codes[place] = statuses.setdefault(status, len(statuses)) + 1
            left[place] = False
        for index, call in enumerate(self.framework.filters):
            if not left.any():
                break
            column = self.columns.filter_column(call.name)
            if column is not None and column.codes is not None:
                own, meaning = column.codes[piece.rows], column.meaning
            elif index in piece.asked:
                own, meaning = piece.asked[index].codes, piece.asked[index].meaning
            else:
                continue
            rejected = left & (own != 0)
            for code in _distinct(own[rejected]):
                assert meaning is not None
                number = statuses.setdefault(call.signed(meaning(code)), len(statuses)) + 1
                codes[rejected & (own == code)] = number
            left &= ~rejected
        return codes


class Searcher:
    """Searches a table for one pod after the other."""

    def __init__(
        self, table: NodeTable, nominator: Nominator, cache: ColumnCache, stops_at_errors: bool = True
    ) -> None:
        self._stops_at_errors = stops_at_errors
        self.table = table
        self.nominator = nominator
        self.cache = cache
        self.rows_asked = 0
        self._order: Rows = NO_ROWS
        self._twice: Rows = NO_ROWS

    def find(
        self, framework: Framework, pod: PodInfo, cycle: CycleState, limit: int, start: int, cells: bool = True
    ) -> Found:
        """Searches all nodes from a place in the order until one feasible node more than `limit` is met.

        Without `cells` the verdicts can be asked for until the columns change, no longer.
        """
        table = self.table
        if self._order is not table.order:
            self._order = table.order
            self._twice = np.concatenate((table.order, table.order))
        columns = self.cache.columns(framework, pod, cycle)
        if cells or columns.has_errors or self.nominator.nominated_nodes() or _calls(framework, pod, cycle):
            return self._along(columns, framework, pod, cycle, limit, self._twice[start : start + len(table.order)])
        feasible, visited = columns.passing(table.order).find(start, limit)
        read_off = self._twice[start : start + visited], feasible
        return Found(framework, table, cycle, columns, visited, _read_off=read_off)

    def along(self, framework: Framework, pod: PodInfo, cycle: CycleState, limit: int, rows: Rows) -> Found:
        """Searches the given rows in that order."""
        return self._along(self.cache.columns(framework, pod, cycle), framework, pod, cycle, limit, rows)

    def _along(
        self, columns: ShapeColumns, framework: Framework, pod: PodInfo, cycle: CycleState, limit: int, rows: Rows
    ) -> Found:
        awaited = self._awaited(pod) if self.nominator.nominated_nodes() else {}
        found = Found(framework, self.table, cycle, columns)
        calls = _calls(framework, pod, cycle)
        slow = any(call.one_by_one for _, call in calls)
        start, wanted = 0, limit
        step = ONE_BY_ONE_PIECE if slow else limit + limit // 8 + 1 if calls else 2 * limit + 1
        has_errors = columns.has_errors
        while start < len(rows):
            piece = self._piece(found, pod, rows[start : start + step], calls, awaited)
            has_errors |= any(verdicts.has_errors for verdicts in piece.asked.values())
            start += step
            wanted = self._take(found, piece, wanted, has_errors)
            if wanted < 0 or (found.error is not None and self._stops_at_errors):
                break
            if not slow:
                step = _next_step(step, start, limit - wanted, wanted)
        return found

    def _piece(
        self, found: Found, pod: PodInfo, rows: Rows, calls: Sequence[tuple[int, FilterCall]], awaited: "_Awaited"
    ) -> _Piece:
        passed = ~found.columns.blocked[rows]
        nominees = self._nominees(found, pod, rows, awaited) if awaited else {}
        if nominees:
            passed[list(nominees)] = False
        asked: dict[int, Verdicts] = {}
        if not calls:
            return _Piece(rows, passed, asked, nominees)
        nodes = self.table.take(rows)
        for index, call in calls:
            want = self._still_passing(found, rows, asked, index) if call.one_by_one else None
            answer = call(pod, nodes, found.cycle.of(call.name), want)
            self.rows_asked += len(rows)
            if answer is not None:
                asked[index] = answer
                passed &= answer.codes == 0
        return _Piece(rows, passed, asked, nominees)

    def _still_passing(self, found: Found, rows: Rows, asked: Mapping[int, Verdicts], index: int) -> Mask:
        """The nodes no filter before `index` has rejected: only those may be asked about one by one."""
        passing = np.ones(len(rows), np.bool_)
        for before in range(index):
            column = found.columns.filter_column(found.framework.filters[before].name)
            if column is not None and column.codes is not None:
                passing &= column.codes[rows] == 0
            elif before in asked:
                passing &= asked[before].codes == 0
        return passing

    def _take(self, found: Found, piece: _Piece, wanted: int, has_errors: bool) -> int:
        """Adds a piece, cut off where the search ends; answers how many more feasible nodes are wanted (-1: done)."""
        places = np.flatnonzero(piece.passed)
        if len(places) > wanted:
            piece = piece.cut(int(places[wanted]))
            wanted = -1
        else:
            wanted -= len(places)
        found.pieces.append(piece)
        found.visited += len(piece.rows)
        if has_errors and found.error is None:
            found.error = self._first_error(found, piece)
        return wanted

    def _first_error(self, found: Found, piece: _Piece) -> Status | None:
        """The first node of the search whose filters failed ends the cycle."""
        statuses: dict[Status, int] = {}
        codes = found._explain(piece, statuses)
        listed = list(statuses)
        failed = [listed[code - 1] for code in codes[codes != 0].tolist() if listed[code - 1].code == Code.ERROR]
        return failed[0] if failed else None

    def _awaited(self, pod: PodInfo) -> "_Awaited":
        """The rows to which pods are nominated that this one must leave room for, and those pods."""
        found: dict[int, list[PodInfo]] = {}
        for name in self.nominator.nominated_nodes():
            row = self.table.row_of.get(name)
            if row is not None and (pods := nominated_before(self.nominator, name, pod)):
                found[row] = pods
        return found

    def _nominees(self, found: Found, pod: PodInfo, rows: Rows, awaited: "_Awaited") -> dict[int, Status]:
        """Places that fail with the pods nominated to them: all at once where only their rows change with those."""
        framework, table, cycle = found.framework, self.table, found.cycle
        mask = np.zeros(table.size, np.bool_)
        mask[list(awaited)] = True
        failing: dict[int, Status] = {}
        together: dict[int, list[PodInfo]] = {}
        for place in np.flatnonzero(mask[rows]).tolist():
            row = int(rows[place])
            changed = cycle_with(cycle, awaited[row], table.info(row))
            if changed is cycle:
                together[place] = awaited[row]
                continue
            status = judge(
                framework, pod, table.what_if(rows[place : place + 1], {}, {0: awaited[row]}), changed
            ).status(0)
            if not status.is_success:
                failing[place] = status
        if together:
            places = list(together)
            nodes = table.what_if(rows[places], {}, dict(enumerate(together.values())))
            judged = judge(framework, pod, nodes, cycle)
            failing |= {places[index]: judged.status(index) for index in np.flatnonzero(judged.rejecter).tolist()}
        return failing


_Awaited = Mapping[int, list[PodInfo]]


def _distinct(codes: NDArray[np.signedinteger[Any]]) -> list[int]:
    """The different codes, ascending. (NumPy's own `unique` begins with a slow import.)"""
    ordered = np.sort(codes)
    listed: list[int] = ordered[np.flatnonzero(np.diff(ordered, prepend=0))].tolist()
    return listed


def _calls(framework: Framework, pod: PodInfo, cycle: CycleState) -> list[tuple[int, FilterCall]]:
    """The filters without columns that have a say in this cycle."""
    return [
        (index, call)
        for index, call in framework.uncached_filters
        if call.name not in cycle.skipped and (call.concerns is None or call.concerns(pod))
    ]


def _next_step(step: int, visited: int, passed: int, wanted: int) -> int:
    """How many nodes to look at next: as many as are likely to have the feasible ones that are wanted still."""
    if not passed:
        return 2 * step
    return (wanted + 1) * visited // passed * 9 // 8 + 8


def cycle_with(cycle: CycleState, pods: Sequence[PodInfo], node: NodeInfo) -> CycleState:
    """The states with some more pods on a node; the same object where nothing changes."""
    if cycle.depends_on_pods:
        for pod in pods:
            cycle = cycle.with_pod(pod, node)
    return cycle


def nominated_before(nominator: Nominator, node: str, pod: PodInfo) -> list[PodInfo]:
    """The pods nominated to a node that the pod must leave room for: of equal or higher priority."""
    return [other for other in nominator.nominated_to(node) if other.priority >= pod.priority and other.uid != pod.uid]
