"""preempt: lets starving jobs evict less important tasks of their own queue. Upstream: actions/preempt/preempt.go."""

from collections.abc import Callable
from dataclasses import dataclass

from seatrial.volcano.actions.preempt_topology import TopologyAware
from seatrial.volcano.actions.reclaim import suffices
from seatrial.volcano.cache.fit_errors import UNRESOLVABLE
from seatrial.volcano.cache.job_info import JobInfo
from seatrial.volcano.cache.node_info import NodeInfo
from seatrial.volcano.cache.queue_info import QueueInfo
from seatrial.volcano.cache.task_info import PREEMPTABLE_STATUSES, TaskInfo, TaskStatus
from seatrial.volcano.framework.node_search import NodeSearch
from seatrial.volcano.framework.priority_queue import PriorityQueue
from seatrial.volcano.framework.session import Session
from seatrial.volcano.framework.statement import Statement

Allowed = Callable[[TaskInfo, TaskStatus], bool]
"""Whether a task, counted in some state on its node, may be a victim."""


def execute(session: Session) -> None:
    """Preempts between jobs of a queue, then between tasks of a job."""
    Preempt(session).run()


@dataclass(slots=True)
class Preempt:
    """One run of the action."""

    session: Session

    def run(self) -> None:
        session = self.session
        arguments = session.conf.arguments_of("preempt")
        search = session.search(arguments.boolean("predicateErrorCacheEnable", True))
        topology = (
            TopologyAware(session, arguments) if arguments.boolean("enableTopologyAwarePreemption", False) else None
        )
        starving = self._starving()
        preemptors: dict[str, PriorityQueue[JobInfo]] = {}
        for job in starving:
            preemptors.setdefault(job.queue, PriorityQueue(session.job_order)).push(job)
        tasks = {job.uid: PriorityQueue(session.task_order, self._pending(job)) for job in starving}
        queues: PriorityQueue[QueueInfo] = PriorityQueue(session.queue_order)
        for name in sorted(preemptors):
            queues.push(session.queues[name])
        attempt = Attempt(session, search, topology)
        while queues:
            queue = queues.pop()
            jobs = preemptors[queue.name]
            while jobs:
                job = jobs.pop()
                self._between_jobs(attempt, job, tasks[job.uid])
            for job in starving:
                if job.queue == queue.name:
                    self._within_job(attempt, job)

    def _starving(self) -> list[JobInfo]:
        session = self.session
        return [
            job
            for job in session.jobs.values()
            if not job.is_pending
            and session.job_valid(job) is None
            and session.job_starving(job)
            and not job.has_network_topology
        ]

    def _pending(self, job: JobInfo) -> list[TaskInfo]:
        return [task for task in job.index.listed(TaskStatus.PENDING) if not task.sch_gated]

    def _between_jobs(self, attempt: "Attempt", job: JobInfo, tasks: PriorityQueue[TaskInfo]) -> None:
        session = self.session
        statement = session.statement()

        def allowed(preemptor: TaskInfo) -> Allowed:
            def is_allowed(task: TaskInfo, status: TaskStatus) -> bool:
                owner = session.jobs.get(task.job)
                return (
                    _may_go(preemptor, task, status)
                    and owner is not None
                    and owner.queue == job.queue
                    and preemptor.job != task.job
                )

            return is_allowed

        while tasks and session.job_starving(job):
            preemptor = tasks.pop()
            attempt.preempt(statement, preemptor, allowed(preemptor))
        if session.job_pipelined(job):
            statement.commit()
        else:
            statement.discard()

    def _within_job(self, attempt: "Attempt", job: JobInfo) -> None:
        tasks = PriorityQueue(self.session.task_order, self._pending(job))
        while tasks:
            preemptor = tasks.pop()
            statement = self.session.statement()
            if not attempt.preempt(statement, preemptor, _own_job(preemptor)):
                statement.discard()
                return
            statement.commit()


@dataclass(slots=True)
class Attempt:
    """Finds a node for a preemptor, and the tasks to evict there."""

    session: Session
    search: NodeSearch
    topology: TopologyAware | None

    def preempt(self, statement: Statement, preemptor: TaskInfo, allowed: Allowed) -> bool:
        """Pipelines a task where evictions make room; whether it was."""
        session = self.session
        if not self._is_eligible(preemptor) or session.pre_predicate(preemptor):
            return False
        candidates = session.rows_worth_evicting(preemptor)
        rows, _ = self.search.find(preemptor, candidates, session.severity(preemptor), UNRESOLVABLE, session.judge)
        if self.topology is not None:
            return self.topology.preempt(statement, preemptor, allowed, [session.node_list[r] for r in rows.tolist()])
        queue = session.queues[session.jobs[preemptor.job].queue]
        nodes = session.by_score(preemptor, rows)
        return any(self._on_node(statement, preemptor, allowed, node, queue) for node in nodes)

    def _on_node(
        self, statement: Statement, preemptor: TaskInfo, allowed: Allowed, node: NodeInfo, queue: QueueInfo
    ) -> bool:
        session = self.session
        preemptees = [task for task, status in node.listed() if allowed(task, status)]
        victims = session.preemptable(preemptor, preemptees)
        session.measures.set("pod_preemption_victims", len(victims))
        if not suffices(preemptor, node, victims):
            return False
        attempt = session.statement()
        waiting = session.victims_queue(victims, preemptor)
        fits = self._fits(queue, preemptor, node)
        evicts = False
        while waiting and not fits:
            victim = waiting.pop()
            attempt.evict(victim, "preempt")
            evicts |= not victim.resreq.is_empty()
            fits = self._fits(queue, preemptor, node)
        session.measures.inc("total_preemption_attempts")
        if not fits or not attempt.pipeline(preemptor, node, evicts):
            attempt.discard()
            return False
        statement.merge(attempt)
        return True

    def _fits(self, queue: QueueInfo, preemptor: TaskInfo, node: NodeInfo) -> bool:
        session = self.session
        if not session.allocatable(queue, preemptor) or not node.fits_future(preemptor):
            return False
        return not session.conf.version.rules.preempts_for_predicates or session.predicate(preemptor, node) == 0

    def _is_eligible(self, preemptor: TaskInfo) -> bool:
        """Whether a task may preempt: not while victims of an earlier preemption are still leaving."""
        if preemptor.pod.shape.never_preempts:
            return False
        if not preemptor.nominated_node:
            return True
        node = self.session.nodes.get(preemptor.nominated_node)
        if node is None:
            return False
        severity = self.session.predicate(preemptor, node)
        # Upstream asks before PrePredicate: for a task that nothing has prepared yet the answer is an error.
        if severity == 0 and not any(plugin.lacks_state(preemptor) for plugin in self.session.plugins.values()):
            return False
        if severity == UNRESOLVABLE:
            return True
        return not any(
            task.pod.priority < preemptor.pod.priority and task.pod.deleting and task.pod.is_preempted
            for task in node.tasks.values()
        )


def _may_go(preemptor: TaskInfo, task: TaskInfo, status: TaskStatus) -> bool:
    if status not in PREEMPTABLE_STATUSES or (preemptor.best_effort and not task.best_effort):
        return False
    return task.preemptable


def _own_job(preemptor: TaskInfo) -> Allowed:
    return lambda task, status: _may_go(preemptor, task, status) and preemptor.job == task.job
