"""Explains the placement of a pod: one sentence first, then the result of every plugin on every node."""

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

import polars as pl

from seatrial.model.errors import NotFound
from seatrial.notebook import explanation_html
from seatrial.results.facts import ATTEMPTS, NODES_TRIED
from seatrial.results.lifecycles import Lives, PodLife
from seatrial.results.run import Run
from seatrial.results.waiting_reasons import DEFAULT_SCHEDULER, Group, groups_of, reason, waiting_of
from seatrial.scheduler import WAITING
from seatrial.timeline import Attempt

TABLE = {
    "node": pl.String,
    "plugin": pl.String,
    "filter": pl.String,
    "raw": pl.Int64,
    "normalized": pl.Int64,
    "weight": pl.Int64,
    "final": pl.Int64,
}
SUGGESTED = 5
LISTED_VICTIMS = 10


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

    def _repr_html_(self) -> str:
        return explanation_html(self)

    def __repr__(self) -> str:
        return f"<Explanation after {_number_of(self.attempts)} attempts: {self.sentence}>"


def find_pods(run: Run, pattern: str) -> list[str]:
    """The pods of a name (in `default`, or `namespace/name`) or glob; NotFound with the nearest names without any."""
    namespace, _, name = pattern.rpartition("/")
    wanted = f"{namespace or 'default'}/{name}"
    if any(pod.key == wanted for pod in run.pods_around(wanted)):
        return [wanted]
    known = list(dict.fromkeys(pod.key for pod in run.pods))
    globs = (wanted, f"*/{name}") if not namespace else (wanted,)
    found = [key for key in known if any(fnmatchcase(key, glob) for glob in globs)] if _is_glob(pattern) else []
    if found:
        return found
    elsewhere = [key for key in known if key.rpartition("/")[2] == name] if not namespace else []
    near = elsewhere or _near(namespace or "default", name, known)
    said = f"; did you mean {', '.join(near[:SUGGESTED])}?" if near else f"; it has {len(known)} others"
    raise NotFound(f"the timeline has no pod {wanted}{said}")


def _near(namespace: str, name: str, known: list[str]) -> list[str]:
    """Pods whose name is similar or has the same beginning, as those of a workload do; of the same namespace first."""
    start = re.split(r"[*?\[]", name, maxsplit=1)[0].rstrip("-")
    names: dict[str, list[str]] = {}
    starts: dict[str, list[str]] = {}
    for key in known:
        names.setdefault(key.rpartition("/")[2], []).append(key)
        starts.setdefault(key.rpartition("/")[2][: len(start)], []).append(key)
    found = [key for each in get_close_matches(name, names, SUGGESTED) for key in names[each]]
    found = found or [key for each in get_close_matches(start, starts, SUGGESTED) for key in starts[each]]
    return sorted(found, key=lambda key: not key.startswith(f"{namespace}/"))


def _is_glob(text: str) -> bool:
    return any(letter in text for letter in "*?[")


def waiting_groups(run: Run) -> list[Group]:
    """The pods without a node at the end of a run, by reason."""
    return groups_of(waiting_of(pod) for pod in run.pods if pod.is_waiting(run.last_step))


def explain(run: Run, pod: str) -> Explanation:
    """Explain one pod, `namespace/name` or a name in default; NotFound where the run has no such pod."""
    (key, *_) = find_pods(run, pod)
    pods = run.pods_around(key)
    namespace, _, name = key.partition("/")
    same_name = [life for life in pods if life.key == key]
    life, which = same_name[-1], (key, len(same_name) - 1)
    attempts = tuple(attempt for tried, attempt in run.attempts(namespace, name) if tried == which)
    victims = _victims(pods, same_name)
    said = _placement(run, life, attempts, victims)
    return Explanation(key, " ".join(filter(None, (said, _end(life)))), attempts)


def _victims(pods: Sequence[PodLife], same_name: Sequence[PodLife]) -> list[str]:
    """The pods that the last pod of a name preempted; others of its name may have preempted others before."""
    key, lives = same_name[-1].key, Lives(same_name)
    last = lives.at(key, sys.maxsize)
    return [pod.key for pod in pods if pod.preempted_by == key and lives.preempting(pod) == last]


def _placement(run: Run, life: PodLife, attempts: Sequence[Attempt], victims: list[str]) -> str:
    if life.bound is not None:
        return _bound(run, life, attempts, victims)
    if life.gates:
        return f"{life.key} is gated by {', '.join(life.gates)}: no scheduler tries it before its gates are removed."
    if not life.tried and not attempts:
        return _untried(run, life)
    return _pending(life, attempts, victims)


def _bound(run: Run, life: PodLife, attempts: Sequence[Attempt], victims: list[str]) -> str:
    placed = next((each for each in reversed(attempts) if each.outcome == "scheduled"), None)
    if "bound" in life.brought:
        return f"{life.key} came with the snapshot and was already on {life.node}."
    if placed is None:
        if ATTEMPTS in run.lacking:
            return f"{life.key} went to {life.node} in step {life.bound}; {run.lacking[ATTEMPTS]}, so why is not known."
        return (
            f"{life.key} is on {life.node} since step {life.bound} without a scheduler: it was created with its node."
        )
    count = _number_of(attempts)
    tries = f"after {count} attempts " if count > 1 else ""
    freed = f", for which it preempted {_named(victims)}" if victims else ""
    went = f"{life.key} went to {placed.node} {tries}in step {placed.major}{freed}"
    if not placed.visited and NODES_TRIED in run.lacking:
        return f"{went}; {run.lacking[NODES_TRIED]}, so why is not known."
    return f"{went}: {_choice(placed)}" if placed.visited else f"{went}."


def _number_of(attempts: Sequence[Attempt]) -> int:
    """How many attempts there were: one that was held, and what came of it, are a single one."""
    return sum(1 for attempt in attempts[:-1] if attempt.outcome != WAITING) + bool(attempts)


def _named(pods: list[str]) -> str:
    shown = ", ".join(pods[:LISTED_VICTIMS])
    more = len(pods) - LISTED_VICTIMS
    count = f"{len(pods)} pods " if len(pods) > 1 else ""
    return f"{count}({shown}{f' and {more} more' if more > 0 else ''})" if count else shown


def _untried(run: Run, life: PodLife) -> str:
    if life.scheduler and life.scheduler != DEFAULT_SCHEDULER:
        return f"{life.key} is claimed by the scheduler {life.scheduler} (spec.schedulerName), which never tried it."
    if ATTEMPTS in run.lacking:
        return f"Whether {life.key} was tried by the scheduler is not known: {run.lacking[ATTEMPTS]}."
    return f"{life.key} was never tried by a scheduler."


def _pending(life: PodLife, attempts: Sequence[Attempt], victims: list[str]) -> str:
    last = attempts[-1] if attempts else Attempt(0, 0, "unschedulable")
    message = last.message or life.message
    count = _number_of(attempts)
    tries = f"after {count} attempts" if count > 1 else "after one attempt" if attempts else ""
    claimed = reason(message, (), "")
    why = f"{claimed[0].upper()}{claimed[1:]}. {message}" if claimed.startswith("its ") else message
    if last.nominated:
        gone = list(last.victims) or victims
        freed = f" once {_named(gone)} {'have' if len(gone) > 1 else 'has'} left" if gone else ""
        return f"{life.key} is pending {tries} and nominated to {last.nominated}{freed}: {why}"
    return f"{life.key} is pending {tries}: {why or 'no message was kept'}".replace("  ", " ")


def _end(life: PodLife) -> str:
    if life.preempted is not None:
        by = f" by {life.preempted_by}" if life.preempted_by else ""
        return f"It was preempted{by} in step {life.preempted}."
    if life.deleted is not None:
        by = f" by {life.deleted_by}" if life.deleted_by else ""
        return f"It was deleted{by} in step {life.deleted}."
    if life.ended is not None:
        return f"It {life.phase.lower() or 'finished'} in step {life.ended}."
    return ""


def _choice(attempt: Attempt) -> str:
    rejected = attempt.visited - attempt.feasible
    reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(attempt.reasons.items()))
    if attempt.visited == attempt.feasible == 1:
        return "only this node was searched, and it passed the filters."
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
        tied = sum(each == own for each in attempt.total.values()) - 1
        with_whom = f"{tied} other nodes" if tied > 1 else node
        return f"{searched}, and it shares the highest total score of {own} with {with_whom}; the tie was settled."
    return f"{searched}, and it has the highest total score of {own} (next is {node} with {total})."
