"""Explains the placement of a pod: one sentence first, then the result of every plugin on every node."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from seatrial.model.documents import decode
from seatrial.model.errors import NotFound
from seatrial.timeline.reader import Attempt, TimelineReader

TABLE = {
    "node": pl.String,
    "plugin": pl.String,
    "filter": pl.String,
    "raw": pl.Int64,
    "normalized": pl.Int64,
    "weight": pl.Int64,
    "final": pl.Int64,
}


UNRECORDED = "attempts were not recorded (--record none)"


def are_attempts_unrecorded(table: pl.LazyFrame) -> bool:
    """Whether a timeline shows the hand of a scheduler and yet holds no attempt: it was made with `--record none`."""
    is_attempt = pl.col("entry") == "attempt"
    is_bind = (pl.col("subresource") == "binding") & (pl.col("writer") == "scheduler")
    is_trace = is_bind | (pl.col("entry") == "unscheduled")
    attempted, traced = (
        table.select(is_attempt.any().alias("attempted"), is_trace.any().alias("traced")).collect().row(0)
    )
    return bool(traced and not attempted)


@dataclass(frozen=True, slots=True)
class Explanation:
    """An answer to "why is this pod here?"."""

    pod: str
    sentence: str
    attempts: tuple[Attempt, ...]

    def table(self, attempt: int = -1) -> pl.DataFrame:
        """Node by plugin for one attempt (the last one by default): verdicts, raw, normalised, weight, final."""
        chosen = self.attempts[attempt] if self.attempts else None
        rows: list[tuple[Any, ...]] = []
        for node in chosen.nodes if chosen else ():
            assert chosen is not None
            for plugin, verdict in chosen.filter[node].items():
                rows.append((node, plugin, verdict, None, None, None, None))
            for plugin, score in chosen.score.get(node, {}).items():
                rows.append((node, plugin, None, score.raw, score.normalized, score.weight, score.final))
        return pl.DataFrame(rows, schema=TABLE, orient="row")

    def __str__(self) -> str:
        return self.sentence


def explain(kept: TimelineReader, namespace: str, name: str) -> Explanation:
    """Explain one pod; NotFound where the timeline has no such pod."""
    rows = kept.of_pod(namespace, name)
    if not rows:
        raise NotFound(f"the timeline has no pod {namespace}/{name}")
    attempts = [kept.attempt(row) for row in rows if row["entry"] == "attempt"]
    pod = f"{namespace}/{name}"
    if not attempts and are_attempts_unrecorded(kept.table):
        said = _untold(pod, rows)
    else:
        said = _placement(pod, _bind_of(rows), attempts)
    return Explanation(pod, said + _end(rows), tuple(attempts))


def _bind_of(rows: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    return next((row for row in rows if row["subresource"] == "binding"), None)


def _end(rows: Sequence[dict[str, Any]]) -> str:
    deleted = next((row for row in rows if row["entry"] == "delete"), None)
    if deleted is None:
        return ""
    writer = deleted["writer"]
    how = "preempted" if writer == "scheduler" else f"deleted by {writer}"
    return f" It was {how} in step {deleted['major']}."


def _untold(pod: str, rows: Sequence[dict[str, Any]]) -> str:
    """What is known of a pod without its attempts."""
    bound = _bind_of(rows)
    if bound is not None:
        node = decode(bound["object"])["spec"]["nodeName"]
        return f"{pod} went to {node} in step {bound['major']}; {UNRECORDED}, so why is not known."
    if any(row["entry"] == "unscheduled" for row in rows):
        return f"{pod} was tried and found no node; {UNRECORDED}, so why is not known."
    return f"Whether {pod} was tried by the scheduler is not known: {UNRECORDED}."


def _placement(pod: str, bound: dict[str, Any] | None, attempts: Sequence[Attempt]) -> str:
    if not attempts:
        return f"{pod} was never tried by the scheduler: it was created with its node, is gated, or has another one."
    last = attempts[-1]
    tries = f"after {len(attempts)} attempts " if len(attempts) > 1 else ""
    if bound is None or last.outcome != "scheduled":
        if last.nominated:
            gone = f" once {', '.join(last.victims)} left" if last.victims else ""
            return f"{pod} is pending {tries}and nominated to {last.nominated}{gone}: {last.message}"
        return f"{pod} is pending {tries or 'after one attempt '}({last.outcome}): {last.message or 'nothing was kept'}"
    return f"{pod} went to {last.node} {tries}in step {last.major}: {_choice(last)}"


def _choice(attempt: Attempt) -> str:
    rejected = attempt.visited - attempt.feasible
    reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(attempt.reasons.items()))
    searched = f"of {attempt.visited} nodes searched {attempt.feasible} passed the filters"
    if rejected and reasons:
        searched += f" ({reasons})"
    others = [(node, total) for node, total in attempt.best if node != attempt.node]
    own = dict(attempt.best).get(attempt.node, attempt.total.get(attempt.node))
    if attempt.feasible == 1:
        return f"{searched}, so no score was needed."
    if own is None or not others:
        return f"{searched}, and it was chosen among them."
    node, total = others[0]
    if total == own:
        return f"{searched}, and it shares the highest total score of {own} with {node}; the tie was settled."
    return f"{searched}, and it has the highest total score of {own} (next is {node} with {total})."
