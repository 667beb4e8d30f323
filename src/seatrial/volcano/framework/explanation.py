"""Why a job does not run, in one sentence, with the plugin and the queue that said no."""

from dataclasses import dataclass

from seatrial.volcano.cache.fit_errors import histogram
from seatrial.volcano.cache.job_info import JobInfo
from seatrial.volcano.cache.task_info import TaskStatus
from seatrial.volcano.framework.session import Session
from seatrial.words import counted

_POINTS = {
    "jobValid": "is not worth scheduling",
    "jobEnqueueable": "is not let in",
    "allocatable": "gets nothing more",
    "overused": "gets nothing",
}


@dataclass(frozen=True, slots=True)
class Explanation:
    """A job that waits, and why."""

    job: str
    queue: str
    plugin: str
    text: str


def explain_pending(session: Session) -> list[Explanation]:
    """Every job with tasks that wait, or that was not let in."""
    waiting = (TaskStatus.PENDING, TaskStatus.PIPELINED)
    return [
        explain_job(session, job)
        for job in session.jobs.values()
        if job.is_pending or any(job.index.of(status) for status in waiting)
    ]


def explain_job(session: Session, job: JobInfo) -> Explanation:
    """Why a job waits: the refusal of a plugin, nodes that do not fit, or resources that are not free yet."""
    refusal = session.refusals.get(job.uid)
    pipelined = len(job.index.of(TaskStatus.PIPELINED))
    if pipelined:
        tasks = f"{counted(pipelined, 'task')} {'is' if pipelined == 1 else 'are'}"
        text = f"job {job.uid} waits for resources that are being released: {tasks} pipelined"
        return Explanation(job.uid, job.queue, "", text)
    unfit = max(job.nodes_fit_errors.values(), key=lambda errors: errors.nodes, default=None)
    if unfit is not None and (refusal is None or refusal.point == "jobValid"):
        plugins = unfit.plugins()
        reasons = histogram(unfit.reasons()) or unfit.message()
        by = f" by {' and '.join(plugins)}" if plugins else ""
        text = f"job {job.uid} of queue {job.queue} fits on no node{by}: {reasons}"
        return Explanation(job.uid, job.queue, plugins[0] if plugins else "", text)
    if refusal is not None:
        what = _POINTS[refusal.point]
        text = f"job {job.uid} of queue {job.queue} {what} by plugin {refusal.plugin}: {refusal.text}"
        return Explanation(job.uid, job.queue, refusal.plugin, text)
    if not len(job.index):
        return Explanation(job.uid, job.queue, "", f"job {job.uid} of queue {job.queue} has no pods yet")
    needed = counted(job.min_available, "task")
    text = f"job {job.uid} of queue {job.queue} needs {needed} at once and can place {job.ready_tasks}"
    return Explanation(job.uid, job.queue, "gang", text)
