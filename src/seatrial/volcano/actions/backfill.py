"""backfill: places tasks that ask for nothing wherever the predicates let them. Upstream: actions/backfill."""

from seatrial.scheduler.framework import Code
from seatrial.volcano.cache.fit_errors import REJECTED, FitErrors, FitStatus
from seatrial.volcano.cache.job_info import JobInfo
from seatrial.volcano.cache.queue_info import QueueInfo
from seatrial.volcano.cache.task_info import TaskInfo, TaskStatus
from seatrial.volcano.framework.priority_queue import PriorityQueue
from seatrial.volcano.framework.session import Session


def execute(session: Session) -> None:
    """Allocates best-effort tasks, one after the other; no queue and no node runs out of them."""
    remembers = session.conf.arguments_of("backfill").boolean("predicateErrorCacheEnable", True)
    for task in _pending_tasks(session):
        job = session.jobs[task.job]
        error = session.pre_predicate(task)
        if error:
            status = FitStatus(Code.ERROR, error)
            job.set_fit_errors(task, FitErrors(everywhere=(len(session.node_list), status)))
            continue
        search = session.search(remembers)
        rows, errors = search.find(task, session.all_rows, session.severity(task), REJECTED, session.judge)
        if not len(rows):
            job.set_fit_errors(task, errors)
            continue
        node = session.node_list[int(rows[0])] if len(rows) == 1 else session.best_node(task, rows)
        if node is not None:  # upstream crashes where a plugin could not score the candidates
            session.allocate(task, node)
            session.measures.placed(job)


def _pending_tasks(session: Session) -> list[TaskInfo]:
    """The best-effort tasks of jobs that are let in, in the order of queues, jobs and tasks."""
    queues: PriorityQueue[QueueInfo] = PriorityQueue(session.queue_order)
    jobs: dict[str, PriorityQueue[JobInfo]] = {}
    tasks: dict[str, PriorityQueue[TaskInfo]] = {}
    for job in session.jobs.values():
        if job.is_pending or session.job_valid(job) is not None:
            continue
        waiting = [t for t in job.index.listed(TaskStatus.PENDING) if t.best_effort and not t.sch_gated]
        for task in job.index.listed(TaskStatus.PIPELINED):
            if task.best_effort:
                session.statement().unpipeline(task)
                waiting.append(task)
        if not waiting:
            continue
        tasks[job.uid] = PriorityQueue(session.task_order, waiting)
        if job.queue not in jobs:
            queues.push(session.queues[job.queue])
            jobs[job.queue] = PriorityQueue(session.job_order)
        jobs[job.queue].push(job)
    ordered: list[TaskInfo] = []
    while queues:
        listed = jobs[queues.pop().name]
        while listed:
            waiting_tasks = tasks[listed.pop().uid]
            while waiting_tasks:
                ordered.append(waiting_tasks.pop())
    return ordered
