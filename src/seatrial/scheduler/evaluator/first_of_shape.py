"""The search for the first pod of a shape: plugins are asked about the nodes of the search only.

Columns over all nodes pay off when a second pod of the shape comes. Many shapes have a single pod: those of a DaemonSet
name one node each. Only profiles of in-tree plugins are searched in this way.
"""

from dataclasses import dataclass

import numpy as np

from seatrial.scheduler.cache.node_table import NO_ROWS, Nodes, NodeTable, Rows
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.evaluator.interface import Explained, Found
from seatrial.scheduler.framework.filtering import FilterResults
from seatrial.scheduler.framework.plugin_calls import FilterCall
from seatrial.scheduler.framework.runtime import CycleState, Framework
from seatrial.scheduler.framework.scoring import (
    Scored,
    ScoreFailed,
    check_range,
    normalized_scores,
    raw_or_none,
    run_pre_scores,
    state_of,
)
from seatrial.scheduler.framework.status import Status, Verdicts, error

Calls = list[tuple[int, FilterCall]]


@dataclass(slots=True)
class _Piece:
    """A part of the search and the verdicts on it."""

    rows: Rows
    feasible: Rows
    results: FilterResults


def first_search(
    framework: Framework, pod: PodInfo, cycle: CycleState, table: NodeTable, rows: Rows, limit: int
) -> Found | None:
    """The outcome of a search along some rows; None if a filter fails, or one must not be asked about more nodes."""
    calls = [
        (index, call)
        for index, call in enumerate(framework.filters)
        if call.name not in cycle.skipped and (call.concerns is None or call.concerns(pod))
    ]
    if any(call.one_by_one for _, call in calls):
        return None
    pieces: list[_Piece] = []
    start, wanted, step = 0, limit, limit + limit // 8 + 1
    while start < len(rows) and wanted >= 0:
        part = rows[start : start + step]
        results = _judged(framework, calls, pod, table.take(part), cycle)
        if results is None:
            return None
        places = np.flatnonzero(results.rejecter == 0)
        feasible = part[places[:wanted]]
        if len(places) > wanted:
            part = part[: int(places[wanted])]
        pieces.append(_Piece(part, feasible, results))
        start, wanted = start + step, wanted - len(places)
        step = next_step(step, start, limit - wanted, wanted)
    visited = pieces[0].rows if len(pieces) == 1 else np.concatenate([piece.rows for piece in pieces] or [NO_ROWS])
    feasible = pieces[0].feasible if len(pieces) == 1 else np.concatenate([p.feasible for p in pieces] or [NO_ROWS])
    return Found(framework, pod, cycle, table, visited, feasible, len(visited), lambda: _explain(pieces))


def first_totals(framework: Framework, pod: PodInfo, nodes: Nodes, cycle: CycleState) -> Scored:
    """The totals of some nodes, without the score of each plugin."""
    if not framework.scorers:
        return Scored(np.ones(len(nodes), np.int64))
    scored = Scored(ran=framework.pre_score_names)
    try:
        states, scored.skipped = run_pre_scores(framework.pre_scorers, pod, nodes)
        calls = [(call, state_of(call, cycle, states)) for call in framework.scorers if call.name not in scored.skipped]
        raws = [raw_or_none(call, pod, nodes, state) for call, state in calls]
        flat = sum([call.flat_score * call.weight for (call, _), raw in zip(calls, raws, strict=True) if raw is None])
        total = np.full(len(nodes), flat, np.int64)
        for (call, state), raw in zip(calls, raws, strict=True):
            if raw is not None:
                final = normalized_scores(call, pod, nodes, raw, state)
                if not call.is_bounded:
                    check_range(call, final)
                total += final if call.weight == 1 else final * call.weight
        scored.total = total
    except ScoreFailed as failure:
        scored.error = error(str(failure))
    return scored


def _judged(framework: Framework, calls: Calls, pod: PodInfo, nodes: Nodes, cycle: CycleState) -> FilterResults | None:
    """What `run_filters` answers, from fewer calls; None if a filter fails."""
    rejecter = np.zeros(len(nodes), np.int16)
    verdicts: list[Verdicts | None] = [None] * len(framework.filters)
    for index, call in calls:
        answer = call(pod, nodes, cycle.of(call.name))
        if answer is None:
            continue
        if answer.has_errors:
            return None
        if np.count_nonzero(answer.codes):
            verdicts[index] = answer
            rejecter[(rejecter == 0) & (answer.codes != 0)] = index + 1
    return FilterResults(framework, rejecter, verdicts)


def next_step(step: int, visited: int, passed: int, wanted: int) -> int:
    """The size of the next piece: enough nodes that the wanted feasible ones are likely among them."""
    return 2 * step if not passed else (wanted + 1) * visited // passed * 9 // 8 + 8


def _explain(pieces: list[_Piece]) -> Explained:
    numbers: dict[Status, int] = {}
    codes = np.zeros(sum(len(piece.rows) for piece in pieces), np.int32)
    start = 0
    for piece in pieces:
        for place in np.flatnonzero(piece.results.rejecter[: len(piece.rows)]).tolist():
            codes[start + place] = numbers.setdefault(piece.results.status(place), len(numbers) + 1)
        start += len(piece.rows)
    return codes, tuple(numbers)
