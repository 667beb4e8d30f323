"""What became of each workload."""

import polars as pl

from seatrial.results.facts import WRITES
from seatrial.results.measure import measure
from seatrial.results.run import Run
from seatrial.results.workloads import workloads_of

SCHEMA = {
    "namespace": pl.String, "kind": pl.String, "name": pl.String, "wanted": pl.Int64, "ready_start": pl.Int64,
    "ready_min": pl.Int64, "ready_min_at": pl.Float64, "ready_end": pl.Int64, "moved": pl.Int64, "pending": pl.Int64,
    "lost": pl.Int64, "why": pl.String,
}  # fmt: skip


def _counts(frame: pl.DataFrame) -> dict[str, float | None]:
    not_ready = (frame["ready_end"] < frame["wanted"]).sum()
    return {"workloads_not_ready": float(not_ready), "replicas_lost": float(frame["lost"].sum())}


@measure(
    "workloads",
    unit="",
    better="lower",
    needs=(WRITES,),
    summary=_counts,
    numbers=("workloads_not_ready", "replicas_lost"),
)
def workloads(run: Run) -> pl.DataFrame:
    """One row a workload: replicas wanted, ready at the start, at their lowest and at the end, moved, pending, lost.

    A workload is a Deployment, StatefulSet, DaemonSet, ReplicaSet, ReplicationController or Job, or a pod without a
    controller. The start is the snapshot; `ready_min` is the lowest number of ready pods after it and `ready_min_at`
    the seconds of virtual time since the run began (null: it never fell, or the workload was made in the run).
    `moved` are replicas of the start that run elsewhere now, `pending` those without a node that may still get one, and
    `lost` those that will not come back by themselves: pods without a controller, replicas that a StatefulSet does not
    make, pods whose volume cannot be used by any node that is left. Summary: how many workloads have fewer ready pods
    than wanted at the end, and how many replicas are lost.
    """
    rows = [tuple(getattr(each, name) for name in SCHEMA) for each in workloads_of(run)]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row").with_columns(pl.col("why").replace("", None))
