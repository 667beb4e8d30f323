"""Runs PreScore, Score and NormalizeScore over the feasible nodes, and adds up the weighted scores.

Upstream: pkg/scheduler/framework/runtime/framework.go (RunPreScorePlugins, RunScorePlugins).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from seatrial.scheduler.cache.node_table import NO_ROWS, Nodes, Rows
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.framework.interface import MAX_NODE_SCORE
from seatrial.scheduler.framework.plugin_calls import ScoreCall
from seatrial.scheduler.framework.runtime import NOTHING, CycleState, Framework
from seatrial.scheduler.framework.status import MISSING, Code, Status, error

Ints = NDArray[np.int64]
NO_TOTALS: Ints = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class PluginScores:
    """One plugin's scores, parallel to the feasible nodes; final = normalized x weight."""

    plugin: str
    weight: int
    raw: Ints
    normalized: Ints

    @property
    def final(self) -> Ints:
        return self.normalized * self.weight


class Scored(Struct):
    """The total score of each feasible node, and the score of each plugin where the caller asks for it."""

    total: Ints = NO_TOTALS
    skipped: tuple[str, ...] = ()
    """plugins that PreScore skipped"""
    ran: tuple[str, ...] = ()
    """PreScore plugins that ran"""
    parts: list[PluginScores] = []
    best: Rows = NO_ROWS
    """positions with the highest total, extenders included; the first of them alone together with `root`"""
    root: int = -1
    """the one of them all that kube-scheduler takes, if it is known"""
    error: Status | None = None


class ScoreFailed(Exception):
    """A plugin failed; the text is what the framework reports."""


def run_scores(framework: Framework, pod: PodInfo, nodes: Nodes, cycle: CycleState) -> Scored:
    """The scores of the nodes, plugin by plugin; without any Score plugin each node gets 1."""
    if not framework.scorers:
        return Scored(np.ones(len(nodes), np.int64))
    scored = Scored(ran=framework.pre_score_names)
    try:
        states, scored.skipped = run_pre_scores(framework.pre_scorers, pod, nodes)
        calls = [(call, state_of(call, cycle, states)) for call in framework.scorers if call.name not in scored.skipped]
        raws = [raw_scores(call, pod, nodes, state) for call, state in calls]
        add_parts(scored, pod, nodes, calls, raws)
    except ScoreFailed as failure:
        scored.error = error(str(failure))
    return scored


def run_pre_scores(
    pre_scorers: Sequence[tuple[str, Callable[..., Any]]],
    pod: PodInfo,
    nodes: Nodes,
    states: Mapping[str, Any] = NOTHING,
    skipped: tuple[str, ...] = (),
) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """States by plugin, and the plugins that are skipped; both start with what is known."""
    found = dict(states)
    for name, pre_score in pre_scorers:
        state = pre_score(pod, nodes)
        if not isinstance(state, Status):
            found[name] = state
        elif state.code == Code.SKIP:
            skipped = (*skipped, name)
        else:
            raise ScoreFailed(f'running PreScore plugin "{name}": {state.message}')
    return found, skipped


def add_parts(
    scored: Scored, pod: PodInfo, nodes: Nodes, calls: Sequence[tuple[ScoreCall, Any]], raws: Sequence[Ints]
) -> None:
    """Normalizes all raw scores, then adds them up: upstream normalizes all plugins before it checks a range."""
    normalized = [
        normalized_scores(call, pod, nodes, raw, state) for (call, state), raw in zip(calls, raws, strict=True)
    ]
    scored.total = np.zeros(len(nodes), np.int64)
    for (call, _), raw, final in zip(calls, raws, normalized, strict=True):
        check_range(call, final)
        scored.parts.append(PluginScores(call.name, call.weight, raw, final))
        scored.total += final * call.weight


def state_of(call: ScoreCall, cycle: CycleState, states: Mapping[str, Any]) -> Any:
    """The state for Score: that of PreScore if the plugin has one, else that of PreFilter."""
    return states.get(call.name, MISSING) if call.has_pre_score else cycle.of(call.name)


def raw_or_none(call: ScoreCall, pod: PodInfo, nodes: Nodes, state: Any) -> Ints | None:
    """What a Score plugin answers; None means 0 for all."""
    answer: Ints | Status | None = call(pod, nodes, state)
    if isinstance(answer, Status):
        raise ScoreFailed(f'running Score plugins: plugin "{call.name}" failed with: {answer.message}')
    return answer


def raw_scores(call: ScoreCall, pod: PodInfo, nodes: Nodes, state: Any) -> Ints:
    """The raw scores of a plugin."""
    scores = raw_or_none(call, pod, nodes, state)
    return np.zeros(len(nodes), np.int64) if scores is None else scores


def normalized_scores(call: ScoreCall, pod: PodInfo, nodes: Nodes, raw: Ints, state: Any) -> Ints:
    """The scores after NormalizeScore, if the plugin has it."""
    if call.normalize is None:
        return raw
    answer = call.normalize(pod, nodes, raw, state)
    if isinstance(answer, Status):
        raise ScoreFailed(f'running Normalize on Score plugins: plugin "{call.name}" failed with: {answer.message}')
    return np.asarray(answer, np.int64)


def check_range(call: ScoreCall, scores: Ints) -> None:
    """Fails if a score is not in the range from 0 to 100."""
    # As unsigned numbers the negative ones are the highest.
    if np.maximum.reduce(scores.view(np.uint64), initial=0) > MAX_NODE_SCORE:
        wrong = np.flatnonzero((scores < 0) | (scores > MAX_NODE_SCORE))
        text = f'plugin "{call.name}" returns an invalid score {scores[wrong[0]]}, '
        text += f"it should in the range of [0, {MAX_NODE_SCORE}] after normalizing"
        raise ScoreFailed(f"applying score defaultWeights on Score plugins: {text}")


def default_normalize(scores: Ints, reverse: bool) -> Ints:
    """Scores as a share of the highest, 0 to 100; `reverse` gives 100 to the lowest."""
    highest = int(scores.max(initial=0))
    if highest <= 0:
        return np.full(len(scores), MAX_NODE_SCORE, np.int64) if reverse else scores
    shares = MAX_NODE_SCORE * scores // highest
    return MAX_NODE_SCORE - shares if reverse else shares
