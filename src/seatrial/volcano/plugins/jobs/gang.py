"""gang: a job's tasks are scheduled together or not at all. Upstream: plugins/gang/gang.go."""

from collections.abc import Sequence

from seatrial.model.times import to_time
from seatrial.volcano.cache.job_info import JobInfo
from seatrial.volcano.cache.sub_job_info import SubJobInfo
from seatrial.volcano.cache.task_info import ALLOCATED_STATUSES, TaskInfo, TaskStatus
from seatrial.volcano.framework.extension_points import PERMIT, REJECT, Point
from seatrial.volcano.framework.messages import fit_error
from seatrial.volcano.framework.plugin import Plugin
from seatrial.volcano.framework.priority_queue import KeyOrder
from seatrial.volcano.framework.session_plugins import ValidateResult

NOT_ENOUGH_PODS_OF_TASK, NOT_ENOUGH_TASKS = "NotEnoughPodsOfTask", "NotEnoughTasks"
NOT_ENOUGH_RESOURCES = "NotEnoughResources"
READY = "tasks in gang are ready to be scheduled"
UNSCHEDULABLE, SCHEDULED = "Unschedulable", "Scheduled"


class Gang(Plugin):
    """Judges jobs by the number of their tasks that hold, or will hold, resources."""

    name = "gang"

    def on_session_open(self) -> None:
        self.add(Point.JOB_VALID, self._valid)
        self.add(Point.RECLAIMABLE, self._victims)
        self.add(Point.PREEMPTABLE, self._victims)
        self.add(Point.UNIFIED_EVICTABLE, lambda _, candidates: (list(candidates), PERMIT))
        for point in (Point.JOB_ORDER, Point.SUB_JOB_ORDER):
            self.add(point, KeyOrder[JobInfo | SubJobInfo](lambda one: one.is_ready))
        self.add(Point.JOB_READY, lambda job: job.is_ready and job.tasks_ready() and job.sub_jobs_ready())
        self.add(Point.SUB_JOB_READY, lambda sub_job: sub_job.is_ready)
        self.add(Point.JOB_PIPELINED, self._pipelined)
        self.add(Point.SUB_JOB_PIPELINED, lambda sub_job: PERMIT if sub_job.is_pipelined else REJECT)
        self.add(Point.JOB_STARVING, lambda job: job.is_starving)

    def _valid(self, job: JobInfo) -> ValidateResult | None:
        if not job.tasks_valid():
            text = "Not enough valid pods of each task for gang-scheduling"
            return ValidateResult(NOT_ENOUGH_PODS_OF_TASK, text)
        if not job.sub_jobs_valid():
            text = "Not enough valid subGroups of each task for gang-scheduling"
            return ValidateResult(NOT_ENOUGH_PODS_OF_TASK, text)
        valid = job.valid_tasks
        if valid < job.min_available:
            text = f"Not enough valid tasks for gang-scheduling, valid: {valid}, min: {job.min_available}"
            return ValidateResult(NOT_ENOUGH_TASKS, text)
        return None

    def _victims(self, _: TaskInfo, candidates: Sequence[TaskInfo]) -> tuple[list[TaskInfo], int]:
        """Tasks whose job keeps its minimum without them."""
        occupied: dict[str, int] = {}
        victims = []
        for task in candidates:
            job = self.session.jobs.get(task.job)
            if job is None:
                continue
            held = occupied.setdefault(job.uid, job.ready_tasks)
            if held > job.min_available:
                occupied[job.uid] = held - 1
                victims.append(task)
        return victims, PERMIT

    def _pipelined(self, job: JobInfo) -> int:
        return PERMIT if job.is_pipelined and job.tasks_pipelined() and job.sub_jobs_pipelined() else REJECT

    def on_session_close(self) -> None:
        measures, unscheduled = self.session.measures, 0
        for job in self.session.jobs.values():
            if not len(job.index):
                continue
            missing = 0
            if job.is_ready:
                self._set_condition(job, SCHEDULED, READY, "")
            elif self.session.conf.version.rules.counts_releasing_tasks and _only_releasing(job):
                continue
            else:
                missing = job.min_available - _schedulable(job)
                unscheduled += 1
                measures.inc("job_retry_counts", job.name)
                text = f"{missing}/{len(job.index)} tasks in gang unschedulable: {fit_error(job)}"
                self._set_condition(job, UNSCHEDULABLE, NOT_ENOUGH_RESOURCES, text)
            measures.set("unschedule_task_count", missing, job.name)
        measures.set("unschedule_job_count", unscheduled)

    def _set_condition(self, job: JobInfo, type: str, reason: str, message: str) -> None:
        condition = {
            "type": type,
            "status": "True",
            "lastTransitionTime": to_time(self.session.now),
            "transitionID": self.session.uid,
            "reason": reason,
            "message": message,
        }
        job.pod_group.set_condition(condition)


def _schedulable(job: JobInfo) -> int:
    """Tasks that hold resources, or would have in the statement that was discarded last."""
    planned = sum(task.transaction.status in ALLOCATED_STATUSES for task in job.index.of(TaskStatus.PENDING).values())
    return planned + job.ready_tasks


def _only_releasing(job: JobInfo) -> bool:
    """Whether the job lacks tasks only because some are on their way out, and none waits."""
    releasing = job.releasing_scheduled_tasks
    if not releasing or job.index.of(TaskStatus.PENDING) or job.index.of(TaskStatus.PIPELINED):
        return False
    return job.scheduled_tasks + releasing >= job.min_available
