"""The sentences about jobs and tasks that do not get scheduled.

Upstream: pkg/scheduler/api/job_info.go (FitError, TaskSchedulingReason).
"""

from collections import Counter

from seatrial.volcano.cache.fit_errors import SCHEDULABLE_REASON, UNSCHEDULABLE_REASON, histogram
from seatrial.volcano.cache.job_info import JobInfo
from seatrial.volcano.cache.task_info import TaskInfo, TaskStatus

POD_GROUP_READY, POD_GROUP_NOT_READY = "pod group is ready", "pod group is not ready"


def fit_error(job: JobInfo) -> str:
    """Why a job is where it is: its tasks by status, the pending ones by reason, and one task's error in full."""
    counts = Counter({status.value: len(tasks) for status, tasks in job.index.by_status.items() if tasks})
    counts["minAvailable"] = job.min_available
    state = POD_GROUP_READY if job.is_ready else POD_GROUP_NOT_READY
    text = f"{state}, {histogram(counts)}"
    pending = job.index.listed(TaskStatus.PENDING)
    if pending:
        text += f"; Pending: {histogram(Counter(scheduling_reason(job, task)[0] for task in pending))}"
    if job.job_fit_errors:
        return f"{text}. Origin reason is: {job.job_fit_errors}"
    for task in job.index:
        errors = job.nodes_fit_errors.get(task.uid)
        if errors is not None:
            return f"{text}. Origin reason is {task.name}: {errors.message()}"
    return text


def scheduling_reason(job: JobInfo, task: TaskInfo) -> tuple[str, str, str]:
    """A task's reason and message, and the node it is nominated to after an eviction."""
    planned = task.transaction
    if planned.status is TaskStatus.ALLOCATED:
        text = f"Pod {task.key} can possibly be assigned to {planned.node_name}, once minAvailable is satisfied"
        return SCHEDULABLE_REASON, text, ""
    if planned.status is TaskStatus.PIPELINED:
        text = (
            f"Pod {task.key} can possibly be assigned to {planned.node_name}, "
            "once resource is released and minAvailable is satisfied"
        )
        return UNSCHEDULABLE_REASON, text, planned.node_name if planned.eviction_occurred else ""
    if planned.status is TaskStatus.PENDING:
        errors = job.nodes_fit_errors.get(task.uid)
        return UNSCHEDULABLE_REASON, errors.message() if errors else job.job_fit_errors, ""
    return planned.status.value, job.job_fit_errors, ""
