"""Volcano's queues: what each one held over time, and what it deserves and is guaranteed."""

import polars as pl

from seatrial.model.quantity import Quantity
from seatrial.results.facts import TIMES, WRITES
from seatrial.results.measure import measure
from seatrial.results.run import Run

SCHEMA = {
    "queue": pl.String,
    "time_s": pl.Float64,
    "resource": pl.String,
    "allocated": pl.Float64,
    "deserved": pl.Float64,
    "guarantee": pl.Float64,
}
_SECOND = 1_000_000


def _nothing(_: pl.DataFrame) -> dict[str, float | None]:
    return {}


@measure("volcano_queues", summary=_nothing, needs=(WRITES, TIMES))
def volcano_queues(run: Run) -> pl.DataFrame:
    """One row for each resource whenever what a queue holds has changed.

    `time_s` counts from the first entry of the run. `deserved` and `guarantee` are what the queue's spec says, null
    where it says nothing; cpu in cores, memory in bytes. Empty where Volcano takes no part.
    """
    rows: list[tuple[str, float, str, float, float | None, float | None]] = []
    begin = run.steps[0].time if run.steps else 0
    held: dict[str, object] = {}
    for entry in run.entries("Queue"):
        if entry.data is None:
            continue
        document = entry.object or {}
        spec, allocated = document.get("spec") or {}, (document.get("status") or {}).get("allocated") or {}
        if allocated == held.get(entry.name, {}):
            continue
        held[entry.name] = allocated
        guarantee = (spec.get("guarantee") or {}).get("resource") or {}
        for name, amount in allocated.items():
            said = _amount((spec.get("deserved") or {}).get(name)), _amount(guarantee.get(name))
            time = (entry.time - begin) / _SECOND
            rows.append((entry.name, time, name, _amount(amount) or 0.0, *said))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _amount(text: str | None) -> float | None:
    return None if text is None else Quantity.parse(text).as_float()
