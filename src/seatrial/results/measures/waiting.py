"""How long pods wait for their node."""

import math

import polars as pl

from seatrial.results.facts import OBJECTS, TIMES
from seatrial.results.measure import measure
from seatrial.results.measures.pods import waited
from seatrial.results.run import Run

SCHEMA = {"unit": pl.String, "p50": pl.Float64, "p90": pl.Float64, "p99": pl.Float64, "longest": pl.Float64}


def _steps(frame: pl.DataFrame) -> dict[str, float | None]:
    row = frame.row(0, named=True)
    return {f"waiting_{name}": row[name] for name in ("p50", "p90", "p99")}


@measure(
    "waiting",
    unit="steps",
    better="lower",
    needs=(OBJECTS,),
    needed_by={"seconds": TIMES},
    summary=_steps,
    numbers=("waiting_p50", "waiting_p90", "waiting_p99"),
)
def waiting(run: Run) -> pl.DataFrame:
    """p50, p90, p99 and the longest of the waiting time of bound pods, in steps and in seconds of virtual time.

    The p-th percentile is the smallest waiting time that at least p percent of the pods do not exceed (nearest rank).
    Pods that were never bound are not in it (see `pending`), nor are those that a snapshot brought with their node.
    A result without times tells no seconds: they are null. Summary: the percentiles in steps.
    """
    waits = [waited(run, pod) for pod in run.pods]
    rows = []
    for place, unit in enumerate(("steps", "seconds")):
        known = unit == "steps" or TIMES not in run.lacking
        times = sorted(float(wait[place]) for wait in waits if wait is not None) if known else []
        rows.append((unit, *(percentile(times, share) for share in (50, 90, 99)), times[-1] if times else None))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def percentile(ordered: list[float], share: int) -> float | None:
    """Nearest rank; None of nothing."""
    return ordered[max(0, math.ceil(share * len(ordered) / 100) - 1)] if ordered else None
