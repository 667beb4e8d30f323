"""Volcano's jobs: how each PodGroup came from Pending to Running, how long it waited, and why."""

import polars as pl

from seatrial.results.facts import TIMES, WRITES
from seatrial.results.measure import measure
from seatrial.results.run import Run
from seatrial.results.volcano.jobs import VolcanoJob, jobs_of

SCHEMA = {
    "job": pl.String,
    "queue": pl.String,
    "min_member": pl.Int64,
    "running": pl.Int64,
    "phase": pl.String,
    "inqueue_s": pl.Float64,
    "running_s": pl.Float64,
    "wait_s": pl.Float64,
    "size": pl.String,
    "reason": pl.String,
    "needs": pl.String,
    "podgroup": pl.String,
}
SIZES = ("1", "2-8", "9-64", "65+")


def _waits(frame: pl.DataFrame) -> dict[str, float | None]:
    if not len(frame):
        return {}
    found = {"jobs_waiting": float(frame["running_s"].is_null().sum()), "job_wait_mean_s": _mean(frame)}
    for queue in frame["queue"].unique().sort():
        found[f"job_wait_mean_s.queue.{queue}"] = _mean(frame.filter(pl.col("queue") == queue))
    sizes = [size for size in SIZES if (frame["size"] == size).any()]
    for size in sizes if len(sizes) > 1 else ():
        found[f"job_wait_mean_s.size.{size}"] = _mean(frame.filter(pl.col("size") == size))
    return dict(found)


def _mean(frame: pl.DataFrame) -> float:
    return float(frame["wait_s"].sum()) / len(frame)


@measure(
    "volcano_jobs",
    unit="s",
    better="lower",
    summary=_waits,
    needs=(WRITES, TIMES),
    numbers=("jobs_waiting", "job_wait_mean_s", "job_wait_mean_s.*"),
)
def volcano_jobs(run: Run) -> pl.DataFrame:
    """Every PodGroup, called by its workload, with its queue and last phase.

    `inqueue_s` and `running_s` are the seconds from its creation until it was first let in (Inqueue) and first Running;
    null where it never was. `wait_s` is the same as `running_s`, but a job that never ran has waited to the end of the
    run. `running` is how many of its pods run at the end, of `min_member` that must run together; `size` is the class
    of that number. `reason` says why it waits at the end, with the plugin and the queue that said no, and `needs` what
    would let it in. Summary: jobs that never ran, and the mean wait of all, by queue and by size. Empty where Volcano
    takes no part.
    """
    return pl.DataFrame([_row(job) for job in jobs_of(run)], schema=SCHEMA, orient="row")


def _row(job: VolcanoJob) -> tuple[object, ...]:
    why = job.why or {"text": "", "needs": []}
    return (
        job.title, job.queue, job.min_member, job.running, job.phase, job.let_in_s, job.started_s, job.wait_s,
        job.size, why["text"], "; ".join(why["needs"]), job.key,
    )  # fmt: skip
