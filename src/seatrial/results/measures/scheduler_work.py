"""The work of the scheduler: attempts and visited nodes."""

import polars as pl

from seatrial.results.facts import ATTEMPTS, NODES_TRIED
from seatrial.results.measure import measure, total
from seatrial.results.run import Run

SCHEMA = {"step": pl.Int64, "attempts": pl.Int64, "scheduled": pl.Int64, "visited": pl.Int64, "feasible": pl.Int64}


def _sums(frame: pl.DataFrame) -> dict[str, float | None]:
    return {"attempts": total(frame, "attempts"), "nodes_visited": total(frame, "visited")}


MAY_LACK = {"visited": NODES_TRIED, "feasible": NODES_TRIED}


@measure("scheduler_work", unit="", better="lower", needs=(ATTEMPTS,), needed_by=MAY_LACK, summary=_sums)
def scheduler_work(run: Run) -> pl.DataFrame:
    """Attempts, and nodes visited and found feasible in them, for each step. Summary: attempts and visits in all."""
    counts = {step.major: [0, 0, 0, 0] for step in run.steps}
    for entry in run.histories.attempts:
        row = counts[entry.major]
        row[0] += 1
        row[1] += entry.outcome == "scheduled"
        row[2] += entry.visited
        row[3] += entry.feasible
    return pl.DataFrame([(major, *row) for major, row in counts.items()], schema=SCHEMA, orient="row")
