"""The lifecycle of each pod."""

import polars as pl

from seatrial.results.facts import ATTEMPTS, ENDS, OBJECTS, TIMES
from seatrial.results.lifecycles import PodLife
from seatrial.results.measure import measure
from seatrial.results.run import Run

SCHEMA = {
    "pod": pl.String,
    "owner": pl.String,
    "created": pl.Int64,
    "bound": pl.Int64,
    "node": pl.String,
    "ended": pl.Int64,
    "attempts": pl.Int64,
    "preempted": pl.Int64,
    "preempted_by": pl.String,
    "waited_steps": pl.Int64,
    "waited_seconds": pl.Float64,
}


def _counts(frame: pl.DataFrame) -> dict[str, float | None]:
    return {"pods_bound": float(frame["bound"].count()), "pods_preempted": float(frame["preempted"].count())}


MAY_LACK = {"ended": ENDS, "attempts": ATTEMPTS, "waited_seconds": TIMES}


@measure(
    "pods",
    unit="pods",
    needs=(OBJECTS,),
    needed_by=MAY_LACK,
    summary=_counts,
    numbers=("pods_bound", "pods_preempted"),
)
def pods(run: Run) -> pl.DataFrame:
    """One row a pod: created, bound, ended, attempts, preempted by whom, waiting.

    Steps are the scenario's numbers, null where the thing did not happen. A pod waits from its creation to its binding;
    seconds are those of virtual time. A pod of a snapshot counts as created at the first step; if it came with its node
    it counts as bound then and its waiting is null, since it did not wait in the run. Summary: how many were bound, and
    how many preempted.
    """
    rows = [
        (
            pod.key, pod.owner or None, pod.created, pod.bound, pod.node or None, pod.ended,
            pod.attempts, pod.preempted, pod.preempted_by or None,
            *(waited(run, pod) or (None, None)),
        )
        for pod in run.pods
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def waited(run: Run, pod: PodLife) -> tuple[int, float] | None:
    """Steps and seconds from creation to binding; None if the pod was not bound in the run."""
    if pod.bound is None or pod.bound_at is None or "bound" in pod.brought:
        return None
    return run.places[pod.bound] - run.places[pod.created], (pod.bound_at - pod.created_at) / 1e6
