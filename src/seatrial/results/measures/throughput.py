"""How many pods find a node in each step."""

import numpy as np
import polars as pl

from seatrial.results.facts import HELD
from seatrial.results.measure import measure
from seatrial.results.run import Run


def _mean(frame: pl.DataFrame) -> dict[str, float | None]:
    mean = frame["bound"].mean()
    return {"throughput": float(mean) if isinstance(mean, int | float) else None}


@measure(
    "throughput",
    unit="pods/step",
    better="higher",
    needs=HELD,
    summary=_mean,
    numbers=("throughput",),
)
def throughput(run: Run) -> pl.DataFrame:
    """Pods created, bound, ended and preempted in each step.

    Only what the run did counts: pods of a snapshot are not created in it, and those that came with their node are not
    bound in it; that they end, or are preempted, is. Summary: pods bound a step on average.
    """
    columns = {name: np.zeros(len(run.steps), np.int64) for name in ("created", "bound", "ended", "preempted")}
    for pod in run.pods:
        for name, counts in columns.items():
            step = getattr(pod, name)
            if step is not None and name not in pod.brought:
                counts[run.places[step]] += 1
    return pl.DataFrame({"step": [step.major for step in run.steps], **columns})
