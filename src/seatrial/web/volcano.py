"""Volcano's queues and jobs as the columns that the report page draws (`web/src/volcano.tsx`)."""

from bisect import bisect_right
from typing import Any

from seatrial.results import Run, own_measure

_SECOND = 1_000_000


def volcano(run: Run) -> dict[str, Any] | None:
    """Queues with what they hold at the end of each step, and jobs; None where Volcano takes no part."""
    jobs, queues = own_measure("volcano_jobs"), own_measure("volcano_queues")
    if jobs.lacking(run) or queues.lacking(run):
        return None
    table = jobs.compute(run)
    held = queues.compute(run)
    if not len(table) and not len(held):
        return None
    return {"queues": _queues(run, held.rows(named=True)), "jobs": table.to_dict(as_series=False)}


def _queues(run: Run, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    starts = [(step.time - run.steps[0].time) / _SECOND for step in run.steps]
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for row in rows:
        queue = found.setdefault(
            (row["queue"], row["resource"]),
            {
                "queue": row["queue"],
                "resource": row["resource"],
                "deserved": row["deserved"],
                "guarantee": row["guarantee"],
                "allocated": [0.0] * len(starts),
            },
        )
        queue["deserved"], queue["guarantee"] = row["deserved"], row["guarantee"]
        place = max(bisect_right(starts, row["time_s"]) - 1, 0)
        queue["allocated"][place:] = [row["allocated"] or 0.0] * (len(starts) - place)
    return list(found.values())
