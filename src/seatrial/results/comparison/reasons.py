"""Why a pod went to another node in another run, from the recorded scores of both attempts."""

from collections.abc import Iterable
from dataclasses import dataclass

from seatrial.results.lifecycles import Which
from seatrial.results.run import Run
from seatrial.timeline import Attempt

SCHEDULED = "scheduled"
FOLLOWS = "follows from earlier differences"


@dataclass(frozen=True, slots=True)
class Scored:
    """The scores of one attempt: plugin → weight, and plugin → node → final score."""

    weights: dict[str, int]
    finals: dict[str, dict[str, int]]
    totals: dict[str, int]


class Attempts:
    """The last attempts at some pods of a run."""

    def __init__(self, run: Run, pods: Iterable[Which]) -> None:
        self._last = run.last_attempts(pods)

    def scored(self, pod: Which) -> Scored | None:
        """The scores of the attempt that placed a pod; None where they were not kept."""
        tried = self._find(pod)
        cells = tried.cells
        if tried.outcome != SCHEDULED or cells is None or not cells.scorers or not cells.feasible:
            return None
        finals = {}
        for plugin, weight, scores in zip(cells.scorers, cells.weights, cells.normalized, strict=True):
            final = (scores * (weight or 0)).tolist()
            finals[plugin] = dict(zip(cells.feasible, final, strict=True))
        weights = {plugin: weight or 0 for plugin, weight in zip(cells.scorers, cells.weights, strict=True)}
        return Scored(weights, finals, dict(tried.total))

    def only_node(self, pod: Which) -> bool:
        """Whether the attempt that placed a pod had one node to choose from, which is not scored."""
        tried = self._find(pod)
        return tried.outcome == SCHEDULED and tried.feasible == 1

    def refusal(self, pod: Which, node: str) -> str:
        """Which plugin refused a node in the last attempt at a pod, and why; empty where that is not known."""
        cells = self._find(pod).cells
        if cells is None:
            return ""
        for name, verdict in zip(cells.nodes, cells.verdicts.tolist(), strict=True):
            if name == node and verdict:
                plugin, _, *reasons = cells.said[verdict - 1]
                return f"{plugin} refuses {node} ({', '.join(reasons)})"
        return ""

    def message(self, pod: Which) -> str:
        """What the scheduler said of a pod in its last attempt."""
        return self._find(pod).message.partition(" preemption:")[0].rstrip(" .,")

    def _find(self, pod: Which) -> Attempt:
        return self._last.get(pod) or Attempt(0, 0, "")


def reason(pod: Which, here: str | None, there: str | None, first: Attempts, second: Attempts) -> str:
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


def _unscored(pod: Which, first: Attempts, second: Attempts) -> str:
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
    return f"{plugin} {_preference(here, there, lead(one, plugin), lead(two, plugin))}: {won}"


def _preference(here: str, there: str, before: int, now: int) -> str:
    """Which of two nodes a plugin prefers, and by how much, so that no number has a sign against its words."""

    def said(lead: int) -> str:
        return f"{there if lead > 0 else here} by {abs(lead)}" if lead else "neither"

    return f"now prefers {said(now)} (before: {said(before)})"
