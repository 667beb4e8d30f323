"""The work of the scheduler: attempts and visited nodes."""

import polars as pl

from seatrial.results.facts import ATTEMPTS, NODES_TRIED
from seatrial.results.measure import measure, total
from seatrial.results.run import Run

SCHEMA = {"step": pl.Int64, "attempts": pl.Int64, "scheduled": pl.Int64, "visited": pl.Int64, "feasible": pl.Int64}


def _sums(frame: pl.DataFrame) -> dict[str, float | None]:
    return {"attempts": total(frame, "attempts"), "nodes_visited": total(frame, "visited")}


MAY_LACK = {"visited": NODES_TRIED, "feasible": NODES_TRIED}


@measure(
    "scheduler_work",
    unit="",
    better="lower",
    needs=(ATTEMPTS,),
    needed_by=MAY_LACK,
    summary=_sums,
    numbers=("attempts", "nodes_visited"),
)
def scheduler_work(run: Run) -> pl.DataFrame:
    """Attempts, and nodes visited and found feasible in them, for each step. Summary: attempts and visits in all."""
    attempts = run.histories.attempts.with_columns(pl.col("visited", "feasible").cast(pl.Int64))
    counts = attempts.group_by(pl.col("major").cast(pl.Int64).alias("step")).agg(
        pl.len().alias("attempts"),
        (pl.col("outcome") == "scheduled").sum().alias("scheduled"),
        pl.col("visited", "feasible").sum(),
    )
    steps = pl.DataFrame({"step": [step.major for step in run.steps]}, schema={"step": pl.Int64})
    return steps.join(counts, on="step", how="left", maintain_order="left").fill_null(0).cast(pl.Int64)
