"""Why a pod went to another node in another run, from the recorded scores of both attempts."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from seatrial.results.run import Run

SCHEDULED = "scheduled"
FOLLOWS = "follows from earlier differences"


@dataclass(frozen=True, slots=True)
class Scored:
    """The scores of one attempt: plugin → weight, and plugin → node → final score."""

    weights: dict[str, int]
    finals: dict[str, dict[str, int]]
    totals: dict[str, int]


class Attempts:
    """The last attempt of each pod in a run, read on demand."""

    def __init__(self, run: Run) -> None:
        self._run = run

    @cached_property
    def _rows(self) -> dict[str, int]:
        if self._run.table is None:
            return {}
        rows = self._run.table.filter(pl.col("entry") == "attempt").select("sequence", "namespace", "name").collect()
        return {f"{namespace}/{name}": sequence for sequence, namespace, name in rows.iter_rows()}

    def scored(self, pod: str) -> Scored | None:
        """The scores of the attempt that placed a pod; None where they were not kept."""
        row = self._row(pod, "outcome", "feasible_nodes", "score_plugins", "weights", "normalized", "total")
        if not row or row["outcome"] != SCHEDULED or not row["score_plugins"] or not row["feasible_nodes"]:
            return None
        names, plugins = self._run.dictionary["nodes"], self._run.dictionary["plugins"]
        nodes = [names[i] for i in row["feasible_nodes"]]
        weights = {plugins[p]: weight for p, weight in zip(row["score_plugins"], row["weights"], strict=True)}
        finals = {}
        for place, (plugin, weight) in enumerate(weights.items()):
            scores = row["normalized"][place * len(nodes) : (place + 1) * len(nodes)]
            finals[plugin] = {node: score * weight for node, score in zip(nodes, scores, strict=True)}
        return Scored(weights, finals, dict(zip(nodes, row["total"], strict=True)))

    def only_node(self, pod: str) -> bool:
        """Whether the attempt that placed a pod had one node to choose from, which is not scored."""
        row = self._row(pod, "outcome", "feasible")
        return bool(row) and row["outcome"] == SCHEDULED and row["feasible"] == 1

    def refusal(self, pod: str, node: str) -> str:
        """Which plugin refused a node in the last attempt at a pod, and why; empty where that is not known."""
        row = self._row(pod, "nodes", "verdicts")
        if not row or row["nodes"] is None:
            return ""
        names, verdicts = self._run.dictionary["nodes"], self._run.dictionary["verdicts"]
        for number, verdict in zip(row["nodes"], row["verdicts"], strict=True):
            if names[number] == node and verdict:
                plugin, _, *reasons = verdicts[verdict - 1]
                return f"{plugin} refuses {node} ({', '.join(reasons)})"
        return ""

    def message(self, pod: str) -> str:
        """What the scheduler said of a pod in its last attempt."""
        row = self._row(pod, "message")
        return str(row.get("message") or "").partition(" preemption:")[0].rstrip(" .,")

    def _row(self, pod: str, *columns: str) -> dict[str, Any]:
        sequence = self._rows.get(pod)
        if sequence is None or self._run.table is None:
            return {}
        rows = self._run.table.filter(pl.col("sequence") == sequence).select(columns).collect()
        return rows.row(0, named=True) if len(rows) else {}


def reason(pod: str, here: str | None, there: str | None, first: Attempts, second: Attempts) -> str:
    """Why `pod` went to `here` in the first run and `there` in the second."""
    if here is None or there is None:
        run, attempts = ("second", first) if here is None else ("first", second)
        why = attempts.message(pod)
        return f"only the {run} run placed it" + (f": {why}" if why else "")
    for node, run, attempts in ((here, "second", second), (there, "first", first)):
        refused = attempts.refusal(pod, node)
        if refused:
            return f"{refused} in the {run} run"
    one, two = first.scored(pod), second.scored(pod)
    if one is None or two is None:
        return _unscored(pod, first, second)
    if here not in two.totals:
        return f"{here} was not searched in the second run"
    if there not in one.totals:
        return f"{there} was not searched in the first run"
    return _by_scores(here, there, one, two)


def _unscored(pod: str, first: Attempts, second: Attempts) -> str:
    """What can be said without the scores of both attempts."""
    for run, attempts in (("second", second), ("first", first)):
        if attempts.only_node(pod):
            return f"only one node could take it in the {run} run"
    return "its scores were not kept (run with --record full; outside schedulers and Volcano give none)"


def _by_scores(here: str, there: str, one: Scored, two: Scored) -> str:
    """The plugin whose opinion on the two nodes has changed most."""

    def lead(scored: Scored, plugin: str) -> int:
        scores = scored.finals.get(plugin)
        return scores[there] - scores[here] if scores else 0

    plugins = list(dict.fromkeys([*one.finals, *two.finals]))
    swings = {plugin: lead(two, plugin) - lead(one, plugin) for plugin in plugins}
    plugin = max(plugins, key=lambda name: (swings[name], name))
    by = two.totals[there] - two.totals[here]
    if swings[plugin] <= 0:
        return FOLLOWS if by > 0 else f"{there} and {here} tie"
    won = f"{there} overtakes {here} by {by}" if by else f"{there} draws level with {here}"
    before, after = one.weights.get(plugin), two.weights.get(plugin)
    if before is None or after is None:
        return f"{plugin} scores in the {'second' if before is None else 'first'} run only: {won}"
    if before != after:
        return f"{plugin} weight {before}→{after}: {won}"
    return f"{plugin} now prefers {there} by {lead(two, plugin)} (before: {lead(one, plugin)}): {won}"
