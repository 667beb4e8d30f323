"""Preemptions: the victims, their preemptors, and the length of each chain."""

from operator import itemgetter

import polars as pl

from seatrial.results.facts import OBJECTS
from seatrial.results.measure import measure
from seatrial.results.run import Run

SCHEMA = {"victim": pl.String, "by": pl.String, "step": pl.Int64, "chain": pl.Int64}


def _count(frame: pl.DataFrame) -> dict[str, float | None]:
    longest = frame["chain"].max()
    chain = float(longest) if isinstance(longest, int) else None if len(frame) else 0.0
    return {"preemptions": float(len(frame)), "preemption_chain": chain}


@measure(
    "preemptions",
    unit="pods",
    better="lower",
    needs=(OBJECTS,),
    summary=_count,
    numbers=("preemptions", "preemption_chain"),
)
def preemptions(run: Run) -> pl.DataFrame:
    """Every preemption, with the length of the chain it ends.

    A chain grows when a pod that displaced another is displaced itself: `chain` is 1 where the victim had displaced
    no other, and one more than the longest chain of its own victims otherwise. Where the preemptor is not known (a
    scheduler outside this process need not name it) `by` and `chain` are null. Summary: their number and the longest.
    """
    rows = []
    depth: dict[str, int] = {}
    preempted = [(pod.preempted, pod) for pod in run.pods if pod.preempted is not None]
    for step, pod in sorted(preempted, key=itemgetter(0)):
        chain = depth.get(pod.key, 0) + 1
        depth[pod.preempted_by] = max(depth.get(pod.preempted_by, 0), chain)
        by, length = (pod.preempted_by, chain) if pod.preempted_by else (None, None)
        rows.append((pod.key, by, step, length))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")
