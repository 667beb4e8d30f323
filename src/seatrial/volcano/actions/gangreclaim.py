"""gangreclaim: room for a whole gang, from queues that have more than they deserve. Upstream: actions/gangreclaim."""

from seatrial.volcano.actions.bundle import Less
from seatrial.volcano.actions.gang_eviction import GangEviction
from seatrial.volcano.cache.job_info import JobInfo
from seatrial.volcano.cache.task_info import TaskInfo, TaskStatus
from seatrial.volcano.framework.eviction import EvictionKind
from seatrial.volcano.framework.session import Session


def execute(session: Session) -> None:
    """Runs the action."""
    queues = session.queues

    def may_go(job: JobInfo, task: TaskInfo, status: TaskStatus) -> bool:
        queue = queues[session.jobs[task.job].queue]
        return status is TaskStatus.RUNNING and queue.name != job.queue and queue.is_reclaimable

    def first(job: JobInfo) -> Less:
        own = queues[job.queue]

        def less(left: JobInfo, right: JobInfo) -> bool:
            if left.queue == right.queue:
                return False
            return session.victim_queue_order(queues[left.queue], queues[right.queue], own)

        return less

    action = GangEviction(session, EvictionKind.GANG_RECLAIM, may_go, first)
    action.run(session.preemptive, lambda queue: bool(session.overused(queue)))
