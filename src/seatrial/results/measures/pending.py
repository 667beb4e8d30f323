"""How many pods wait, and for how long in sum."""

import numpy as np
import polars as pl

from seatrial.results.facts import HELD
from seatrial.results.measure import measure
from seatrial.results.run import Run


def _integral(frame: pl.DataFrame) -> dict[str, float | None]:
    return {"pending_integral": float(frame["pending"].sum())}


@measure(
    "pending",
    unit="pod-steps",
    better="lower",
    needs=HELD,
    summary=_integral,
    numbers=("pending_integral",),
)
def pending(run: Run) -> pl.DataFrame:
    """Pods that are there without a node at the end of each step, and the running sum.

    Summary: the integral, that is the sum over all steps (pod-steps of waiting).
    """
    changes = np.zeros(len(run.steps) + 1, np.int64)
    for pod in run.pods:
        changes[run.places[pod.created]] += 1
        leaves = pod.bound if pod.bound is not None else pod.ended
        if leaves is not None:
            changes[run.places[leaves]] -= 1
    waiting = np.cumsum(changes)[:-1]
    return pl.DataFrame(
        {"step": [step.major for step in run.steps], "pending": waiting, "integral": np.cumsum(waiting)}
    )
