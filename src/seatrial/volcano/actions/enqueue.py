"""enqueue: lets pending jobs in, queue by queue, as long as plugins permit. Upstream: actions/enqueue/enqueue.go."""

from seatrial.volcano.cache.job_info import INQUEUE, JobInfo
from seatrial.volcano.cache.queue_info import QueueInfo
from seatrial.volcano.framework.priority_queue import ItemQueue, PriorityQueue
from seatrial.volcano.framework.session import Session


def execute(session: Session) -> None:
    """Moves jobs from Pending to Inqueue."""
    queues: PriorityQueue[QueueInfo] = PriorityQueue(session.queue_order)
    jobs: dict[str, ItemQueue[JobInfo]] = {}
    seen: set[str] = set()
    for job in session.jobs.values():
        if job.queue not in seen:
            seen.add(job.queue)
            queues.push(session.queues[job.queue])
        if job.is_pending:
            if job.queue not in jobs:
                jobs[job.queue] = session.job_queue()
            jobs[job.queue].push(job)
    while queues:
        queue = queues.pop()
        waiting = jobs.get(queue.name)
        if not waiting:
            continue
        job = waiting.pop()
        if job.pod_group.min_resources is None or session.job_enqueueable(job):
            session.job_enqueued(job)
            job.pod_group.phase = INQUEUE
        queues.push(queue)
