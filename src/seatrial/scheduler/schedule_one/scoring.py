"""Scores of the feasible nodes: PreScore, Score, NormalizeScore, weights and sums.

Upstream: pkg/scheduler/framework/runtime/framework.go (RunPreScorePlugins, RunScorePlugins).
"""

from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from seatrial.scheduler.cache.node_table import NO_ROWS, Nodes, Rows
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.evaluator.column_cache import ShapeColumns
from seatrial.scheduler.framework.interface import MAX_NODE_SCORE
from seatrial.scheduler.framework.runtime import CycleState, Framework, ScoreCall
from seatrial.scheduler.framework.status import MISSING, Code, Status, error
from seatrial.scheduler.schedule_one.decision import NO_TOTALS, PluginScores

Ints = NDArray[np.int64]


class Scored(Struct):
    """Totals parallel to the feasible nodes; the parts only where they were asked for."""

    total: Ints = NO_TOTALS
    skipped: tuple[str, ...] = ()
    ran: tuple[str, ...] = ()
    """PreScore plugins that ran."""
    parts: list[PluginScores] = []
    best: Rows = NO_ROWS
    """Places with the highest total, once extenders had their say."""
    error: Status | None = None


class _Failed(Exception):
    """A plugin failed; carries what the framework says about it."""


def score(
    framework: Framework, pod: PodInfo, nodes: Nodes, cycle: CycleState, columns: ShapeColumns, parts: bool
) -> Scored:
    """Scores the feasible nodes; without any Score plugin each gets 1."""
    if not framework.scorers:
        return Scored(np.ones(len(nodes), np.int64))
    scored = Scored()
    try:
        states = _pre_score(framework, pod, nodes, columns, scored)
        if parts:
            _in_parts(framework, pod, nodes, cycle, columns, states, scored)
        else:
            _total(framework, pod, nodes, cycle, columns, states, scored)
    except _Failed as failure:
        scored.error = error(str(failure))
    return scored


def _pre_score(
    framework: Framework, pod: PodInfo, nodes: Nodes, columns: ShapeColumns, scored: Scored
) -> dict[str, Any]:
    """States by plugin; the cached ones were asked when their column was made."""
    states, skipped = columns.pre_states, columns.pre_skipped
    for name, pre_score in columns.asks_first:
        state = pre_score(pod, nodes)
        if isinstance(state, Status):
            if state.code == Code.SKIP:
                skipped = (*skipped, name)
                continue
            raise _Failed(f'running PreScore plugin "{name}": {state.message}')
        states = {**states, name: state}
    scored.skipped = skipped
    scored.ran = framework.pre_score_names
    return states


def _in_parts(
    framework: Framework,
    pod: PodInfo,
    nodes: Nodes,
    cycle: CycleState,
    columns: ShapeColumns,
    states: dict[str, Any],
    scored: Scored,
) -> None:
    raws = [
        (call, _raw(call, pod, nodes, cycle, columns, states))
        for call in framework.scorers
        if call.name not in scored.skipped
    ]
    normalized = [_normalized(call, pod, nodes, raw, _state(call, cycle, states)) for call, raw in raws]
    scored.total = np.zeros(len(nodes), np.int64)
    for (call, raw), final in zip(raws, normalized, strict=True):
        _check_range(call, final)
        scored.parts.append(PluginScores(call.name, call.weight, raw, final))
        scored.total += final * call.weight


def _total(
    framework: Framework,
    pod: PodInfo,
    nodes: Nodes,
    cycle: CycleState,
    columns: ShapeColumns,
    states: dict[str, Any],
    scored: Scored,
) -> None:
    total = columns.local[nodes.rows]
    for call in columns.unsettled():
        if call.name in scored.skipped:
            continue
        column = columns.score_column(call.name)
        if column is not None and column.raw is not None and call.normalize is None:
            _check_range(call, column.raw[nodes.rows])
            continue
        raw = _raw_or_none(call, pod, nodes, cycle, columns, states)
        if raw is None:
            continue
        final = _normalized(call, pod, nodes, raw, _state(call, cycle, states))
        _check_range(call, final)
        total += final * call.weight
    scored.total = total + columns.settled if columns.settled else total


def _state(call: ScoreCall, cycle: CycleState, states: dict[str, Any]) -> Any:
    if call.has_pre_score:
        return states.get(call.name, MISSING)
    return cycle.of(call.name)


def _raw(
    call: ScoreCall, pod: PodInfo, nodes: Nodes, cycle: CycleState, columns: ShapeColumns, states: dict[str, Any]
) -> Ints:
    raw = _raw_or_none(call, pod, nodes, cycle, columns, states)
    return np.zeros(len(nodes), np.int64) if raw is None else raw


def _raw_or_none(
    call: ScoreCall, pod: PodInfo, nodes: Nodes, cycle: CycleState, columns: ShapeColumns, states: dict[str, Any]
) -> Ints | None:
    column = columns.score_column(call.name)
    if column is not None and column.raw is not None:
        return column.raw[nodes.rows]
    answer = call(pod, nodes, _state(call, cycle, states))
    if isinstance(answer, Status):
        raise _Failed(f'running Score plugins: plugin "{call.name}" failed with: {answer.message}')
    scores: Ints | None = answer
    return scores


def _normalized(call: ScoreCall, pod: PodInfo, nodes: Nodes, raw: Ints, state: Any) -> Ints:
    if call.normalize is None:
        return raw
    answer = call.normalize(pod, nodes, raw, state)
    if isinstance(answer, Status):
        raise _Failed(f'running Normalize on Score plugins: plugin "{call.name}" failed with: {answer.message}')
    return np.asarray(answer, np.int64)


def _check_range(call: ScoreCall, scores: Ints) -> None:
    if len(scores) and (scores.min() < 0 or scores.max() > MAX_NODE_SCORE):
        wrong = np.flatnonzero((scores < 0) | (scores > MAX_NODE_SCORE))
        text = f'plugin "{call.name}" returns an invalid score {scores[wrong[0]]}, '
        text += f"it should in the range of [0, {MAX_NODE_SCORE}] after normalizing"
        raise _Failed(f"applying score defaultWeights on Score plugins: {text}")


def default_normalize(scores: Ints, reverse: bool) -> Ints:
    """Scores as a share of the highest, 0 to 100; `reverse` gives the highest to those with least."""
    highest = int(scores.max(initial=0))
    if highest <= 0:
        return np.full(len(scores), MAX_NODE_SCORE, np.int64) if reverse else scores
    shares = MAX_NODE_SCORE * scores // highest
    return MAX_NODE_SCORE - shares if reverse else shares
