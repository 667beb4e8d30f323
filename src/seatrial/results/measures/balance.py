"""How evenly the nodes are filled."""

import numpy as np
import polars as pl

from seatrial.results.facts import HELD, OFFERS
from seatrial.results.measure import at_the_end, measure
from seatrial.results.run import Run
from seatrial.results.usage import allocatable, requested

SCHEMA = {"step": pl.Int64, "resource": pl.String, "deviation": pl.Float64, "gini": pl.Float64}


def _last(frame: pl.DataFrame) -> dict[str, float | None]:
    ends = at_the_end(frame)
    return {
        f"balance_{resource}": deviation for resource, deviation in ends.select("resource", "deviation").iter_rows()
    }


@measure(
    "balance",
    unit="points",
    better="lower",
    needs=(*HELD, OFFERS),
    summary=_last,
    numbers=("balance_*",),
)
def balance(run: Run) -> pl.DataFrame:
    """Standard deviation and Gini coefficient of the nodes' requested shares.

    For each step and resource, over the nodes that are there and offer it: the population standard deviation of their
    shares in percentage points, and the Gini coefficient of the shares (0: all equal, towards 1: all on one node).
    Summary: the deviation at the end of the run.
    """
    rows = []
    for resource in run.resources:
        used, offered = requested(run, resource), allocatable(run, resource)
        for i, step in enumerate(run.steps):
            there = offered[i] > 0
            if not there.any():
                continue
            shares = np.sort(100.0 * used[i, there] / offered[i, there])
            rows.append((step.major, resource, float(np.std(shares)), gini(shares)))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def gini(shares: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """The Gini coefficient of sorted values."""
    total = shares.sum()
    if total == 0:
        return 0.0
    count = len(shares)
    ranks = np.arange(1, count + 1)
    return float((2 * (ranks * shares).sum() / total - (count + 1)) / count)
