"""Fragmentation: the number of pods that could still be placed."""

from collections import Counter

import numpy as np
import polars as pl

from seatrial.results.facts import HELD, OFFERS
from seatrial.results.measure import at_the_end, measure
from seatrial.results.run import Run
from seatrial.results.usage import allocatable, requested

TYPICAL = 10
SCHEMA = {"step": pl.Int64, "shape": pl.String, "pods_seen": pl.Int64, "placeable": pl.Int64, "ideal": pl.Int64,
          "lost": pl.Float64}  # fmt: skip


def _last(frame: pl.DataFrame) -> dict[str, float | None]:
    ends = at_the_end(frame)
    ideal, placeable = sum(ends["ideal"]), sum(ends["placeable"])
    return {"fragmentation": 100.0 * (1 - placeable / ideal) if ideal else None}


@measure(
    "fragmentation",
    unit="%",
    better="lower",
    needs=(*HELD, OFFERS),
    summary=_last,
    numbers=("fragmentation",),
)
def fragmentation(run: Run) -> pl.DataFrame:
    """How many typical pods the free room could take, node by node and if it were in one piece.

    Typical are the ten most frequent request shapes of the run. For each step and shape: `placeable` sums over nodes
    how many more such pods fit by requests alone, `ideal` is how many would fit into the sum of all free room, `lost`
    the share of `ideal` that no single node can give, in percent. Summary: that share over all shapes at the end.
    """
    shapes = Counter(tuple(sorted(pod.requests.items())) for pod in run.pods).most_common(TYPICAL)
    if not run.steps or not run.nodes:
        return pl.DataFrame(schema=SCHEMA)
    rows = []
    for shape, count in shapes:
        asked = [(resource, amount) for resource, amount in shape if resource in run.resources]
        room = [allocatable(run, resource) - requested(run, resource) for resource, _ in asked]
        fits = [np.maximum(free, 0) // amount for free, (_, amount) in zip(room, asked, strict=True)]
        placeable = np.minimum.reduce(fits).sum(axis=1)
        ideal = np.minimum.reduce(
            [np.maximum(free, 0).sum(axis=1) // amount for free, (_, amount) in zip(room, asked, strict=True)]
        )
        label = ", ".join(f"{resource}={amount}" for resource, amount in asked)
        for i, step in enumerate(run.steps):
            lost = 100.0 * (1 - placeable[i] / ideal[i]) if ideal[i] else None
            rows.append((step.major, label, count, int(placeable[i]), int(ideal[i]), lost))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row").sort("step", maintain_order=True)
