"""Evictions for a whole gang: victims are chosen in one HyperNode, and only where the gang then fits.

gangpreempt takes them from less important jobs of the same queue, gangreclaim from other queues. The chosen HyperNode
and nodes are nominated for the next allocate.

Upstream: actions/gangpreempt, actions/gangreclaim, actions/utils/simulate.go and util.go.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from seatrial.volcano.actions.bundle import WHOLE, Bundle, Less, allowed_bundles, job_bundles, sort_bundles, summed
from seatrial.volcano.actions.worksheet import TaskQueue, make_worksheet
from seatrial.volcano.apis.labels import PREEMPTABLE
from seatrial.volcano.cache.fit_errors import UNRESOLVABLE
from seatrial.volcano.cache.hyper_node_info import HyperNodeInfo
from seatrial.volcano.cache.job_info import JobInfo
from seatrial.volcano.cache.node_columns import Rows
from seatrial.volcano.cache.node_info import NodeInfo
from seatrial.volcano.cache.queue_info import QueueInfo
from seatrial.volcano.cache.resource import Resource
from seatrial.volcano.cache.sub_job_info import SubJobInfo
from seatrial.volcano.cache.task_info import TaskInfo, TaskStatus
from seatrial.volcano.framework.eviction import EvictionContext, EvictionKind
from seatrial.volcano.framework.extension_points import Point
from seatrial.volcano.framework.node_search import NodeSearch
from seatrial.volcano.framework.priority_queue import PriorityQueue
from seatrial.volcano.framework.session import Session
from seatrial.volcano.framework.statement import Operation, Statement, recover_operations, save_operations

DEFAULT_MOST_DOMAINS = 8
MayGo = Callable[[JobInfo, TaskInfo, TaskStatus], bool]
"""Whether a task may be evicted for a job; the state is the one it counts in on its node."""


@dataclass(slots=True)
class GangEviction:
    """One run of an action that evicts for gangs."""

    session: Session
    kind: EvictionKind
    may_go: MayGo
    first: Callable[[JobInfo], Less]
    """The order in which victim jobs are taken, for the job that wants room."""

    def run(self, allowed: Callable[[QueueInfo, Sequence[TaskInfo]], bool], skips: Callable[[QueueInfo], bool]) -> None:
        """Goes through queues and their starving jobs."""
        session = self.session
        queues: PriorityQueue[QueueInfo] = PriorityQueue(session.queue_order)
        jobs: dict[str, PriorityQueue[JobInfo]] = {}
        for job in session.jobs.values():
            if job.is_pending or session.job_valid(job) is not None:
                continue
            if job.queue not in jobs:
                jobs[job.queue] = PriorityQueue(session.job_order)
                queues.push(session.queues[job.queue])
            if session.job_starving(job):
                jobs[job.queue].push(job)
        while queues:
            queue = queues.pop()
            if skips(queue):
                continue
            starving = jobs[queue.name]
            while starving:
                job = starving.pop()
                statement = session.statement()
                chosen = self._evict_for(statement, queue, job, allowed)
                if session.job_pipelined(job):
                    statement.commit()
                    for uid, name in chosen.items():
                        job.sub_jobs[uid].nominated_hyper_node = name
                else:
                    statement.discard()

    def _evict_for(
        self,
        statement: Statement,
        queue: QueueInfo,
        job: JobInfo,
        allowed: Callable[[QueueInfo, Sequence[TaskInfo]], bool],
    ) -> dict[str, str]:
        """Evicts in the first domain where the job fits then; the HyperNodes chosen for its sub-jobs."""
        session = self.session
        pending = self._pending(job)
        if not pending or not allowed(queue, pending):
            return {}
        need = summed(pending)
        for domain in self._domains(job):
            nodes = session.hyper_nodes.real_nodes.get(domain.name, [])
            idle = Resource()
            for node in nodes:
                idle.add(node.idle).add(node.releasing)
            victims: list[TaskInfo] = []
            for bundle in self._bundles(job, need, domain.name, nodes):
                victims.extend(bundle.tasks)
                if not need.less_equal(idle.clone().add(summed(victims))):
                    continue
                plan = Trial(session, queue, job, victims, self.kind.value).plan(domain)
                if plan is not None and recover_operations(statement, plan[0], session.nodes):
                    return plan[1]
        return {}

    def _pending(self, job: JobInfo) -> list[TaskInfo]:
        """The tasks room is made for: of a job that is ready only those of its next sub-job."""
        session = self.session
        sheet = make_worksheet(session, job, gated=False)
        found: list[TaskInfo] = []
        while sheet.sub_jobs:
            tasks = sheet.tasks[sheet.sub_jobs.pop().uid]
            while tasks:
                found.append(tasks.pop())
            if session.job_ready(job):
                break
        return found

    def _domains(self, job: JobInfo) -> list[HyperNodeInfo]:
        session = self.session
        top = session.hyper_nodes.top
        gradients = [[top]]
        for _, fn in session.fns(Point.HYPER_NODE_GRADIENT_FOR_JOB):
            gradients = fn(job, top, True)
            break
        most = session.conf.arguments_of(self.kind.value).integer("maxDomains", DEFAULT_MOST_DOMAINS)
        found = list({info.name: info for gradient in gradients for info in gradient}.values())
        if not found and not job.has_hard_topology:
            found = [top]
        return found[: most if most > 0 else DEFAULT_MOST_DOMAINS]

    def _bundles(self, job: JobInfo, need: Resource, domain: str, nodes: Sequence[NodeInfo]) -> list[Bundle]:
        """What can be evicted in a domain, in the order it is taken in."""
        session = self.session
        by_job: dict[str, list[TaskInfo]] = {}
        for node in nodes:
            for task, status in node.listed():
                owner = session.jobs.get(task.job)
                if (
                    owner is not None
                    and task.preemptable
                    and _says_preemptable(owner)
                    and self.may_go(job, task, status)
                ):
                    by_job.setdefault(task.job, []).append(task)
        bundles = [bundle for uid in sorted(by_job) for bundle in job_bundles(session.jobs[uid], by_job[uid])]
        bundles = sort_bundles(bundles, need, self.first(job))
        context = EvictionContext(self.kind, job, domain)
        candidates = [task for bundle in bundles for task in bundle.tasks]
        allowed = allowed_bundles(bundles, session.unified_evictable(context, candidates)) if bundles else []
        takes_whole = session.conf.arguments_of(self.kind.value).boolean("allowWholeBundle", True)
        ordered = sort_bundles(allowed, need, self.first(job))
        return [bundle for bundle in ordered if takes_whole or bundle.type != WHOLE]


@dataclass(slots=True)
class Trial:
    """A dry run: victims evicted, the gang pipelined, and all undone again."""

    session: Session
    queue: QueueInfo
    job: JobInfo
    victims: Sequence[TaskInfo]
    reason: str

    def plan(self, domain: HyperNodeInfo) -> tuple[list[Operation], dict[str, str]] | None:
        """The steps that place the job in a domain; None where it does not fit."""
        session = self.session
        sheet = make_worksheet(session, self.job, gated=False)
        was_ready = session.job_ready(self.job)
        evicting = session.statement()
        for victim in self.victims:
            evicting.evict(victim, self.reason)
        chain = [evicting]
        chosen: dict[str, str] = {}
        is_pipelined = False
        while sheet.sub_jobs and not (chosen and (was_ready or is_pipelined)):
            sub_job = sheet.sub_jobs.pop()
            placed = self._place(sub_job, sheet.tasks[sub_job.uid], domain)
            if placed is None:
                is_pipelined = False
                break
            chain.append(placed[0])
            chosen[sub_job.uid] = placed[1]
            is_pipelined = session.job_pipelined(self.job)
        saved = save_operations(*chain)
        for statement in reversed(chain):
            statement.discard()
        return (saved, chosen) if is_pipelined else None

    def _place(self, sub_job: SubJobInfo, tasks: TaskQueue, domain: HyperNodeInfo) -> tuple[Statement, str] | None:
        names = [domain.name]
        if self.job.has_hard_topology:
            for _, fn in self.session.fns(Point.HYPER_NODE_GRADIENT_FOR_SUB_JOB):
                names = [info.name for gradient in fn(sub_job, domain, True) for info in gradient]
                break
        for name in names:
            statement = self._pipeline(sub_job, tasks.clone(), name)
            if statement is not None:
                return statement, name
        return None

    def _pipeline(self, sub_job: SubJobInfo, tasks: TaskQueue, name: str) -> Statement | None:
        """Pipelines all tasks of a sub-job in a HyperNode, or none."""
        session = self.session
        statement = session.statement()
        remembers = session.conf.arguments_of("allocate").boolean("predicateErrorCacheEnable", True)
        search = session.search(remembers)
        rows = session.rows_of(name)
        while tasks:
            task = tasks.pop()
            node = self._node_for(task, rows, search) if session.allocatable(self.queue, task) else None
            if node is None or not statement.pipeline(task, node, bool(self.victims)):
                statement.discard()
                return None
        is_placed = session.sub_job_ready(self.job, sub_job) or session.sub_job_pipelined(self.job, sub_job)
        if not statement.operations or not is_placed:
            statement.discard()
            return None
        return statement

    def _node_for(self, task: TaskInfo, rows: Rows, search: NodeSearch) -> NodeInfo | None:
        session = self.session
        candidates = rows[np.isin(rows, session.rows_worth_evicting(task))]
        if not len(candidates) or session.pre_predicate(task):
            return None
        severity = np.where(session.fits_future(task), session.severity(task), np.int8(UNRESOLVABLE))
        found, _ = search.find(task, candidates, severity, UNRESOLVABLE, session.judge_to_allocate)
        if not len(found):
            return None
        idle = session.fits_idle(task)[found]
        chosen = found[idle] if idle.any() else found
        return session.node_list[int(chosen[0])] if len(chosen) == 1 else session.best_node(task, chosen)


def _says_preemptable(job: JobInfo) -> bool:
    """Whether a PodGroup lets its tasks go; it does unless it says otherwise."""
    group = job.pod_group
    if PREEMPTABLE in group.annotations or PREEMPTABLE in (group.metadata.get("labels") or {}):
        return job.preemptable
    return True
