"""Volcano's jobs: how each PodGroup came from Pending to Running, and how long it waited."""

import re

import polars as pl

from seatrial.results.facts import TIMES, WRITES
from seatrial.results.measure import measure
from seatrial.results.run import Run

SCHEMA = {
    "job": pl.String,
    "queue": pl.String,
    "min_member": pl.Int64,
    "running": pl.Int64,
    "phase": pl.String,
    "inqueue_s": pl.Float64,
    "running_s": pl.Float64,
    "reason": pl.String,
}
_SECOND = 1_000_000
_SENTENCE = re.compile(r"job (?P<job>\S+/\S+) .*")


def _waits(frame: pl.DataFrame) -> dict[str, float | None]:
    if not len(frame):
        return {}
    mean = frame["running_s"].mean()
    return {"jobs_waiting": float(frame["running_s"].is_null().sum()), "job_wait_mean_s": _number(mean)}


@measure("volcano_jobs", unit="s", better="lower", summary=_waits, needs=(WRITES, TIMES))
def volcano_jobs(run: Run) -> pl.DataFrame:
    """Every PodGroup with its queue and last phase.

    `inqueue_s` and `running_s` are the seconds from its creation until it was first let in (Inqueue) and first Running;
    null where it never was. `running` is how many of its pods run at the end, of `min_member` that must run together.
    `reason` says why it waits at the end, with the plugin and the queue that said no. Summary: jobs that never ran, and
    the mean wait of those that did. Empty where Volcano takes no part.
    """
    created: dict[str, int] = {}
    first: dict[tuple[str, str], int] = {}
    last: dict[str, tuple[str, int, int, str, str]] = {}
    for entry in run.entries("PodGroup"):
        if entry.data is None:
            continue
        document = entry.object or {}
        key = f"{entry.namespace}/{entry.name}"
        created.setdefault(key, entry.time)
        spec, status = document.get("spec") or {}, document.get("status") or {}
        phase = status.get("phase") or "Pending"
        first.setdefault((key, phase), entry.time)
        messages = [c.get("message") or "" for c in status.get("conditions") or () if c.get("type") == "Unschedulable"]
        reason = messages[-1] if messages and phase not in ("Running", "Completed") else ""
        last[key] = spec.get("queue") or "", spec.get("minMember") or 0, status.get("running") or 0, phase, reason
    said = _sentences(run.message)
    rows = []
    for key, (queue, least, running, phase, reason) in last.items():
        waits = _after(created[key], first.get((key, "Inqueue"))), _ran(key, created, first)
        rows.append((key, queue, least, running, phase, *waits, said.get(key, reason)))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _sentences(message: str) -> dict[str, str]:
    """Why jobs wait, by job: the scheduler's own sentences in the message of a run."""
    found = (_SENTENCE.match(part) for part in message.split("; "))
    return {match["job"]: match[0] for match in found if match is not None}


def _ran(key: str, created: dict[str, int], first: dict[tuple[str, str], int]) -> float | None:
    return _after(created[key], first.get((key, "Running")) or first.get((key, "Completed")))


def _after(begin: int, end: int | None) -> float | None:
    return None if end is None else (end - begin) / _SECOND


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
