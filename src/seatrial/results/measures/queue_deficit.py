"""How long Volcano's queues hold less than they deserve while their jobs wait."""

import polars as pl

from seatrial.results.facts import OBJECTS, TIMES, WRITES
from seatrial.results.measure import measure
from seatrial.results.run import Run
from seatrial.results.volcano.fairness import fairness_of

SCHEMA = {"queue": pl.String, "below_deserved_s": pl.Float64}


def _seconds(frame: pl.DataFrame) -> dict[str, float | None]:
    if not len(frame):
        return {}
    found = {f"below_deserved_s.{queue}": seconds for queue, seconds in frame.iter_rows()}
    return {"below_deserved_s": float(frame["below_deserved_s"].sum()), **found}


@measure(
    "queue_deficit",
    unit="s",
    better="lower",
    summary=_seconds,
    needs=(WRITES, TIMES, OBJECTS),
    numbers=("below_deserved_s", "below_deserved_s.*"),
)
def queue_deficit(run: Run) -> pl.DataFrame:
    """Seconds in which a leaf queue held less than it deserves of a resource while jobs of it waited.

    Summary: the sum over the queues, and each queue. Empty where Volcano takes no part.
    """
    rows = [(each.queue, each.below_deserved_s) for each in fairness_of(run)]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")
