"""The tasks of a job still to be placed, by sub-job. Upstream: actions/allocate/allocate.go (JobWorksheet)."""

from dataclasses import dataclass

from seatrial.volcano.cache.job_info import JobInfo
from seatrial.volcano.cache.sub_job_info import SubJobInfo
from seatrial.volcano.cache.task_info import TaskInfo
from seatrial.volcano.framework.priority_queue import KeyedQueue, PriorityQueue
from seatrial.volcano.framework.session import Session

TaskQueue = PriorityQueue[TaskInfo] | KeyedQueue[TaskInfo]


@dataclass(slots=True)
class Worksheet:
    """Sub-jobs in their order, and the waiting tasks of each."""

    sub_jobs: PriorityQueue[SubJobInfo]
    tasks: dict[str, TaskQueue]

    def clone(self) -> "Worksheet":
        return Worksheet(self.sub_jobs.clone(), {uid: tasks.clone() for uid, tasks in self.tasks.items()})

    def take_over(self, other: "Worksheet") -> None:
        self.sub_jobs, self.tasks = other.sub_jobs, other.tasks


def make_worksheet(session: Session, job: JobInfo, gated: bool = True) -> Worksheet:
    """The worksheet of a job: sub-jobs needed for the minimum come first.

    `gated`: with the tasks that only Volcano's own gate holds.
    """
    needed = _needed(session, job) if job.policies else set()

    def less(left: SubJobInfo, right: SubJobInfo) -> bool:
        if (left.uid in needed) != (right.uid in needed):
            return left.uid in needed
        return session.sub_job_order(left, right)

    sheet = Worksheet(PriorityQueue(less), {})
    for uid in sorted(job.sub_jobs):
        sub_job = job.sub_jobs[uid]
        waiting = [
            task
            for task in sub_job.pending()
            if not task.best_effort and (not task.sch_gated or (gated and task.has_only_volcano_gate))
        ]
        if waiting:
            sheet.sub_jobs.push(sub_job)
            sheet.tasks[uid] = session.task_queue(waiting)
    return sheet


def _needed(session: Session, job: JobInfo) -> set[str]:
    """The sub-jobs without which a policy has fewer ready subgroups than it needs."""
    counted: dict[str, int] = {}
    waiting: PriorityQueue[SubJobInfo] = PriorityQueue(session.sub_job_order)
    for uid in sorted(job.sub_jobs):
        sub_job = job.sub_jobs[uid]
        if session.sub_job_ready(job, sub_job):
            counted[sub_job.gid] = counted.get(sub_job.gid, 0) + 1
        else:
            waiting.push(sub_job)
    needed: set[str] = set()
    while waiting:
        sub_job = waiting.pop()
        if counted.get(sub_job.gid, 0) < job.min_sub_jobs.get(sub_job.gid, 0):
            needed.add(sub_job.uid)
            counted[sub_job.gid] = counted.get(sub_job.gid, 0) + 1
    return needed
