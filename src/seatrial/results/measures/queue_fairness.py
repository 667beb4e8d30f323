"""How evenly Volcano's queues get what they deserve."""

import polars as pl

from seatrial.results.facts import OBJECTS, TIMES, WRITES
from seatrial.results.measure import measure
from seatrial.results.run import Run
from seatrial.results.volcano.fairness import fairness_of, jain

SCHEMA = {"queue": pl.String, "dominant_share": pl.Float64, "of_deserved": pl.Float64}


def _jain(frame: pl.DataFrame) -> dict[str, float | None]:
    parts = frame["of_deserved"].drop_nulls().to_list()
    return {"queue_jain": jain(parts)} if len(parts) > 1 else {}


@measure(
    "queue_fairness",
    better="higher",
    summary=_jain,
    needs=(WRITES, TIMES, OBJECTS),
    numbers=("queue_jain",),
)
def queue_fairness(run: Run) -> pl.DataFrame:
    """The mean over time of what each leaf queue with jobs holds.

    `dominant_share` is the largest part of the cluster it holds, of any resource; `of_deserved` the smallest part of
    what it deserves that it holds, at most 1, over the time in which it deserves something. Summary: Jain's index of
    `of_deserved` over the queues, 1 where all get the same part. Empty where Volcano takes no part.
    """
    rows = [(each.queue, each.dominant_share, each.of_deserved) for each in fairness_of(run)]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")
