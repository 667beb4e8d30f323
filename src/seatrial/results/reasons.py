"""Why a pod went to another node in another run, from the recorded scores of both attempts."""

from dataclasses import dataclass
from functools import cached_property

import polars as pl

from seatrial.results.run import Run

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
        frame = self._run.table.filter((pl.col("entry") == "attempt") & (pl.col("outcome") == "scheduled"))
        rows = frame.select("sequence", "namespace", "name").collect()
        return {f"{namespace}/{name}": sequence for sequence, namespace, name in rows.iter_rows()}

    def scored(self, pod: str) -> Scored | None:
        """The scores of the attempt that placed a pod; None where they were not kept."""
        sequence = self._rows.get(pod)
        if sequence is None or self._run.table is None:
            return None
        columns = ("feasible_nodes", "score_plugins", "weights", "normalized", "total")
        row = self._run.table.filter(pl.col("sequence") == sequence).select(columns).collect().row(0, named=True)
        if not row["score_plugins"] or not row["feasible_nodes"]:
            return None
        names, plugins = self._run.dictionary["nodes"], self._run.dictionary["plugins"]
        nodes = [names[i] for i in row["feasible_nodes"]]
        weights = {plugins[p]: weight for p, weight in zip(row["score_plugins"], row["weights"], strict=True)}
        finals = {}
        for place, (plugin, weight) in enumerate(weights.items()):
            scores = row["normalized"][place * len(nodes) : (place + 1) * len(nodes)]
            finals[plugin] = {node: score * weight for node, score in zip(nodes, scores, strict=True)}
        return Scored(weights, finals, dict(zip(nodes, row["total"], strict=True)))


def reason(pod: str, here: str | None, there: str | None, first: Attempts, second: Attempts) -> str:
    """Why `pod` went to `here` in the first run and `there` in the second."""
    if here is None or there is None:
        run = "second" if here is None else "first"
        return f"only the {run} run placed it"
    one, two = first.scored(pod), second.scored(pod)
    if one is None or two is None:
        return "its scores were not kept (run with --record full)"
    if here not in two.totals:
        return f"{here} could not take it in the second run"
    if there not in one.totals:
        return f"{there} could not take it in the first run"
    return _by_scores(here, there, one, two)


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
        return f"{plugin} scores in one run only: {won}"
    if before != after:
        return f"weight of {plugin} {before} → {after}: {won}"
    return f"{plugin} now prefers {there} by {lead(two, plugin)} (before: {lead(one, plugin)}): {won}"
