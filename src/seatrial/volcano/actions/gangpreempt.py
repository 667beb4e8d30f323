"""gangpreempt: room for a whole gang, from less important jobs of its queue. Upstream: actions/gangpreempt."""

from seatrial.volcano.actions.bundle import Less
from seatrial.volcano.actions.gang_eviction import GangEviction
from seatrial.volcano.cache.job_info import JobInfo
from seatrial.volcano.cache.task_info import PREEMPTABLE_STATUSES, TaskInfo, TaskStatus
from seatrial.volcano.framework.eviction import EvictionKind
from seatrial.volcano.framework.session import Session


def execute(session: Session) -> None:
    """Runs the action."""

    def may_go(job: JobInfo, task: TaskInfo, status: TaskStatus) -> bool:
        owner = session.jobs[task.job]
        return status in PREEMPTABLE_STATUSES and owner.queue == job.queue and job.priority > owner.priority

    def first(_: JobInfo) -> Less:
        return lambda left, right: not session.job_order(left, right)

    action = GangEviction(session, EvictionKind.GANG_PREEMPT, may_go, first)
    action.run(lambda queue, tasks: True, lambda queue: False)
