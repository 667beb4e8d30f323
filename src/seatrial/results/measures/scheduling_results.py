"""The reasons for which nodes were rejected."""

import polars as pl

from seatrial.results.facts import NODES_TRIED
from seatrial.results.measure import measure
from seatrial.results.run import Run


@measure("scheduling_results", unit="nodes", needs=(NODES_TRIED,))
def scheduling_results(run: Run) -> pl.DataFrame:
    """Reasons for which nodes were rejected, over all attempts.

    One row a reason: attempts it occurred in, and nodes rejected for it.
    """
    counted = run.rejections().group_by("reason").agg(
        pl.len().cast(pl.Int64).alias("attempts"), pl.col("count").sum().cast(pl.Int64).alias("nodes")
    )  # fmt: skip
    return counted.sort(["nodes", "reason"], descending=[True, False])
