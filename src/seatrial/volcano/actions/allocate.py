"""allocate: gives idle resources to jobs that were let in, in the order of queues and jobs.

A gang gets its minimum in one go or nothing; what it wants beyond that comes task by task, in turn with other jobs.

Upstream: actions/allocate/allocate.go.
"""

from dataclasses import dataclass, field

from seatrial.volcano.actions.domain_allocator import DomainAllocator
from seatrial.volcano.actions.task_allocator import TaskAllocator
from seatrial.volcano.actions.worksheet import Worksheet, make_worksheet
from seatrial.volcano.cache.hyper_node_info import CLUSTER_TOP
from seatrial.volcano.cache.job_info import INQUEUE, JobInfo
from seatrial.volcano.cache.queue_info import QueueInfo
from seatrial.volcano.framework.priority_queue import ItemQueue, PriorityQueue
from seatrial.volcano.framework.session import Session


def execute(session: Session) -> None:
    """Runs the action."""
    remembers = session.conf.arguments_of("allocate").boolean("predicateErrorCacheEnable", True)
    allocator = TaskAllocator(session, remembers)
    Allocate(session, allocator, DomainAllocator(session, allocator)).run()


@dataclass(slots=True)
class Allocate:
    """One run of the action."""

    session: Session
    allocator: TaskAllocator
    domains: DomainAllocator
    sheets: dict[str, Worksheet] = field(default_factory=dict)

    def run(self) -> None:
        session = self.session
        queues, jobs = self._waiting()
        while queues:
            queue = queues.pop()
            refusing = session.overused(queue)
            if refusing:
                self._refuse(jobs[queue.name], queue, refusing)
                continue
            waiting = jobs[queue.name]
            if not waiting:
                continue
            job = waiting.pop()
            if self._allocate_job(job):
                waiting.push(job)
            queues.push(queue)

    def _waiting(self) -> tuple[PriorityQueue[QueueInfo], dict[str, ItemQueue[JobInfo]]]:
        """The queues and jobs with tasks to place."""
        session = self.session
        queues: PriorityQueue[QueueInfo] = PriorityQueue(session.queue_order)
        jobs: dict[str, ItemQueue[JobInfo]] = {}
        for job in session.jobs.values():
            if job.is_pending:
                if "enqueue" in session.conf.actions:
                    continue
                job.pod_group.phase = INQUEUE
            if session.job_valid(job) is not None:
                continue
            if not session.hyper_nodes.is_ready and job.has_network_topology:
                continue
            sheet = make_worksheet(session, job)
            if not sheet.sub_jobs:
                continue
            if job.queue not in jobs:
                jobs[job.queue] = session.job_queue()
                queues.push(session.queues[job.queue])
            jobs[job.queue].push(job)
            self.sheets[job.uid] = sheet
        return queues, jobs

    def _allocate_job(self, job: JobInfo) -> bool:
        """Places tasks of a job; whether it is ready and has tasks left."""
        session = self.session
        sheet = self.sheets[job.uid]
        if job.has_hard_topology or job.policies:
            statement = self.domains.allocate_job(job, sheet, session.hyper_nodes.top)
            if statement is None or not session.job_ready(job):
                return False
            statement.commit()
            session.dirty_jobs.add(job.uid)
            self.domains.note_decision(job)
            return bool(sheet.sub_jobs)
        sub_job, tasks = job.sub_jobs.get(job.uid), sheet.tasks.get(job.uid)
        if sub_job is None or tasks is None:
            return False
        statement = None
        if sub_job.nominated_hyper_node:
            nominated = self.domains.allocate_nominated(sub_job, tasks, session.hyper_nodes.top)
            statement = nominated[0] if nominated else None
        if statement is None:
            statement = self.allocator.allocate(sub_job, tasks, CLUSTER_TOP)
        if statement is None or not session.job_ready(job):
            return False
        statement.commit()
        sub_job.nominated_hyper_node = ""
        return bool(tasks)

    def _refuse(self, waiting: ItemQueue[JobInfo], queue: QueueInfo, plugin: str) -> None:
        """Notes for the jobs left in an overused queue which plugin dropped it."""
        text = f"queue {queue.name} is overused: it has all it deserves"
        for job in waiting.items():
            self.session.refuse(job.uid, "overused", plugin, text, queue=queue.name)
