"""How much of the cluster is requested."""

import numpy as np
import polars as pl

from seatrial.results.facts import HELD, OFFERS
from seatrial.results.measure import at_the_end, measure
from seatrial.results.run import Run
from seatrial.results.usage import allocatable, requested

SCHEMA = {
    "step": pl.Int64,
    "resource": pl.String,
    "requested": pl.Int64,
    "allocatable": pl.Int64,
    "rate": pl.Float64,
}


def _last(frame: pl.DataFrame) -> dict[str, float | None]:
    ends = at_the_end(frame)
    return {f"allocation_{resource}": rate for resource, rate in ends.select("resource", "rate").iter_rows()}


@measure(
    "allocation",
    unit="%",
    better="higher",
    needs=(*HELD, OFFERS),
    summary=_last,
    numbers=("allocation_*",),
)
def allocation(run: Run) -> pl.DataFrame:
    """Allocation rate of the whole cluster.

    For each step and resource: requests of all pods on nodes at the end of the step, divided by what all nodes offer
    then, in percent (null where nothing is offered). Summary: the rate at the end of the run.
    """
    frames = []
    for resource in run.resources:
        used, offered = requested(run, resource).sum(axis=1), allocatable(run, resource).sum(axis=1)
        rate = np.divide(100.0 * used, offered, out=np.full(len(used), np.nan), where=offered > 0)
        steps = [step.major for step in run.steps]
        rates = pl.Series(rate.tolist(), dtype=pl.Float64).fill_nan(None)
        columns = steps, [resource] * len(steps), used.tolist(), offered.tolist(), rates
        frames.append(pl.DataFrame(dict(zip(SCHEMA, columns, strict=True)), schema=SCHEMA))
    return pl.concat(frames)
