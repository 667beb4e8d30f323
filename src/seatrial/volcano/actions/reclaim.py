"""reclaim: takes resources back from queues that have more than they deserve. Upstream: actions/reclaim/reclaim.go."""

from seatrial.volcano.cache.fit_errors import UNRESOLVABLE
from seatrial.volcano.cache.job_info import JobInfo
from seatrial.volcano.cache.node_info import NodeInfo
from seatrial.volcano.cache.queue_info import QueueInfo
from seatrial.volcano.cache.task_info import TaskInfo, TaskStatus
from seatrial.volcano.framework.priority_queue import PriorityQueue
from seatrial.volcano.framework.session import Session
from seatrial.volcano.framework.statement import Statement


def execute(session: Session) -> None:
    """Lets starving jobs evict tasks of other queues."""
    remembers = session.conf.arguments_of("reclaim").boolean("predicateErrorCacheEnable", True)
    queues: PriorityQueue[QueueInfo] = PriorityQueue(session.queue_order)
    jobs: dict[str, PriorityQueue[JobInfo]] = {}
    tasks: dict[str, PriorityQueue[TaskInfo]] = {}
    seen: set[str] = set()
    for job in session.jobs.values():
        if job.is_pending or session.job_valid(job) is not None:
            continue
        if job.queue not in seen:
            seen.add(job.queue)
            queues.push(session.queues[job.queue])
        if session.job_starving(job):
            jobs.setdefault(job.queue, PriorityQueue(session.job_order)).push(job)
            pending = [task for task in job.index.listed(TaskStatus.PENDING) if not task.sch_gated]
            tasks[job.uid] = PriorityQueue(session.task_order, pending)
    while queues:
        queue = queues.pop()
        if session.overused(queue):
            continue
        starving = jobs.get(queue.name)
        while starving:
            job = starving.pop()
            _reclaim_for_job(session, queue, job, tasks[job.uid], remembers)
            if starving:
                queues.push(queue)


def _reclaim_for_job(
    session: Session, queue: QueueInfo, job: JobInfo, tasks: PriorityQueue[TaskInfo], remembers: bool
) -> None:
    statement = session.statement()
    while tasks and session.job_starving(job):
        task = tasks.pop()
        if task.pod.shape.never_preempts or not session.preemptive(queue, [task]):
            continue
        if not session.pre_predicate(task):
            _reclaim_for_task(session, statement, task, job, remembers)
    if session.job_pipelined(job):
        statement.commit()
    else:
        statement.discard()


def _reclaim_for_task(session: Session, statement: Statement, task: TaskInfo, job: JobInfo, remembers: bool) -> None:
    """Takes the first node on which enough can be reclaimed; nodes are not scored."""
    candidates = session.rows_worth_evicting(task)
    rows, _ = session.search(remembers).find(task, candidates, session.severity(task), UNRESOLVABLE, session.judge)
    for row in rows.tolist():
        node = session.node_list[row]
        reclaimees = _reclaimees(session, node, job)
        if not reclaimees:
            continue
        victims = session.reclaimable(task, reclaimees)
        if not suffices(task, node, victims):
            continue
        if _evict_and_pipeline(session, statement, task, node, victims):
            return


def _reclaimees(session: Session, node: NodeInfo, job: JobInfo) -> list[TaskInfo]:
    """The running tasks of other queues on a node that may be evicted."""
    found = []
    for task, status in node.listed():
        owner = session.jobs.get(task.job)
        if status is not TaskStatus.RUNNING or not task.preemptable or owner is None or owner.queue == job.queue:
            continue
        if session.queues[owner.queue].is_reclaimable:
            found.append(task)
    return found


def _evict_and_pipeline(
    session: Session, statement: Statement, task: TaskInfo, node: NodeInfo, victims: list[TaskInfo]
) -> bool:
    queue = session.victims_queue(victims, task)
    available = node.future_idle
    attempt = session.statement()
    while queue and not task.resreq.less_equal(available):
        victim = queue.pop()
        attempt.evict(victim, "reclaim")
        available.add(victim.resreq)
    if not task.resreq.less_equal(available) or not attempt.pipeline(task, node, attempt.has_evictions):
        attempt.discard()
        return False
    statement.merge(attempt)
    return True


def suffices(task: TaskInfo, node: NodeInfo, victims: list[TaskInfo]) -> bool:
    """Whether a task fits on a node once all victims are gone (ValidateVictims)."""
    available = node.future_idle
    for victim in victims:
        available.add(victim.resreq)
    return task.resreq.less_equal(available)
