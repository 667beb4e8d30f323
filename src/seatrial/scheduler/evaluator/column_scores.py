"""Scores from kept columns: only plugins without a settled column are called or normalized."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from seatrial.scheduler.cache.node_table import Nodes
from seatrial.scheduler.evaluator.column_cache import ShapeColumns
from seatrial.scheduler.evaluator.interface import Found
from seatrial.scheduler.framework.plugin_calls import ScoreCall
from seatrial.scheduler.framework.scoring import (
    Ints,
    Scored,
    ScoreFailed,
    add_parts,
    check_range,
    normalized_scores,
    raw_or_none,
    raw_scores,
    run_pre_scores,
    state_of,
)
from seatrial.scheduler.framework.status import error


def score_by_columns(found: Found, nodes: Nodes, columns: ShapeColumns, parts: bool) -> Scored:
    """The scores of the nodes; equal to `run_scores`, apart from `parts`, which are there only if asked for."""
    framework, pod = found.framework, found.pod
    if not framework.scorers:
        return Scored(np.ones(len(nodes), np.int64))
    scored = Scored(ran=framework.pre_score_names)
    try:
        states, skipped = run_pre_scores(columns.asks_first, pod, nodes, columns.pre_states, columns.pre_skipped)
        scored.skipped = skipped
        if parts:
            calls = [(c, state_of(c, found.cycle, states)) for c in framework.scorers if c.name not in skipped]
            add_parts(scored, pod, nodes, calls, [_raw(call, found, nodes, columns, state) for call, state in calls])
        else:
            _add_totals(scored, found, nodes, columns, states)
    except ScoreFailed as failure:
        scored.error = error(str(failure))
    return scored


def _raw(call: ScoreCall, found: Found, nodes: Nodes, columns: ShapeColumns, state: Any) -> Ints:
    column = columns.score_column(call.name)
    if column is not None and column.raw is not None:
        return column.raw[nodes.rows]
    return raw_scores(call, found.pod, nodes, state)


def _add_totals(scored: Scored, found: Found, nodes: Nodes, columns: ShapeColumns, states: Mapping[str, Any]) -> None:
    """Adds what is not settled to the sum of the local scores."""
    pod, total = found.pod, columns.local[nodes.rows]
    asked: list[tuple[ScoreCall, Ints, Any, int]] = []
    for call in columns.unsettled(pod):
        if call.name in scored.skipped:
            continue
        column, state = columns.score_column(call.name), state_of(call, found.cycle, states)
        if column is not None and column.raw is not None:
            # Without normalisation the score is part of the sum already, and only its range is left to check.
            asked.append((call, column.raw[nodes.rows], state, call.weight if call.normalize is not None else 0))
        elif not call.is_in_tree:
            asked.append((call, raw_scores(call, pod, nodes, state), state, call.weight))
        elif (raw := raw_or_none(call, pod, nodes, state)) is not None:  # in-tree plugins normalize zeros to zeros
            asked.append((call, raw, state, call.weight))
    finals = [normalized_scores(call, pod, nodes, raw, state) for call, raw, state, _ in asked]
    for (call, _, _, weight), final in zip(asked, finals, strict=True):
        if not call.is_bounded:
            check_range(call, final)
        if weight:
            total += final * weight
    scored.total = total + columns.settled if columns.settled else total
