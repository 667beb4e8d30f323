"""Places jobs with a hard network topology or subgroups: HyperNodes are tried on trial, and the best one is kept.

Upstream: actions/allocate/allocate.go (allocateForJob and what it calls), actions/allocate/recorder.go.
"""

from dataclasses import dataclass, field

from seatrial.volcano.actions.task_allocator import TaskAllocator
from seatrial.volcano.actions.worksheet import TaskQueue, Worksheet
from seatrial.volcano.cache.fit_errors import REJECTED
from seatrial.volcano.cache.hyper_node_info import HyperNodeInfo
from seatrial.volcano.cache.job_info import JobInfo
from seatrial.volcano.cache.node_info import NodeInfo
from seatrial.volcano.cache.sub_job_info import SubJobInfo
from seatrial.volcano.cache.task_info import TaskInfo
from seatrial.volcano.framework.extension_points import Point
from seatrial.volcano.framework.session import Session
from seatrial.volcano.framework.statement import Operation, Statement, recover_operations, save_operations

Gradients = list[list[HyperNodeInfo]]


@dataclass(slots=True)
class DomainAllocator:
    """Chooses HyperNodes for jobs and sub-jobs."""

    session: Session
    allocator: TaskAllocator
    _jobs: dict[str, str] = field(default_factory=dict)
    """The HyperNode chosen for each job."""
    _sub_jobs: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    """The HyperNodes of sub-jobs, by job and the HyperNode tried for it."""

    def allocate_job(self, job: JobInfo, sheet: Worksheet, hyper_node: HyperNodeInfo) -> Statement | None:
        """Places a job in the best HyperNode of the first gradient that has one it fits in."""
        before = {uid: job.sub_jobs[uid].allocated_hyper_node for uid in sheet.tasks}
        for gradient in self.gradients(Point.HYPER_NODE_GRADIENT_FOR_JOB, job, hyper_node):
            plans: dict[str, tuple[list[Operation], Worksheet, float]] = {}
            for tried in gradient:
                plan = self._try_job(job, sheet, tried, before)
                if plan is not None:
                    plans[tried.name] = plan
            if not plans:
                continue
            highest = max(score for _, _, score in plans.values())
            best = self.session.options.pick(sorted(name for name, plan in plans.items() if plan[2] == highest))
            statement = self.session.statement()
            if not recover_operations(statement, plans[best][0], self.session.nodes):
                return None
            sheet.take_over(plans[best][1])
            self._jobs[job.uid] = best
            return statement
        return None

    def _try_job(
        self, job: JobInfo, sheet: Worksheet, hyper_node: HyperNodeInfo, before: dict[str, str]
    ) -> tuple[list[Operation], Worksheet, float] | None:
        """A dry run of a job in one HyperNode."""
        session = self.session
        job.reset_fit_errors()
        copy = sheet.clone()
        statements: list[Statement] = []
        total = 0.0
        while copy.sub_jobs:
            sub_job = copy.sub_jobs.pop()
            placed = self._allocate_sub_job(sub_job, copy, hyper_node)
            if placed is None or not placed[0].operations:
                continue
            statements.append(placed[0])
            total += placed[1]
            if copy.tasks[sub_job.uid]:
                copy.sub_jobs.push(sub_job)
            if session.job_ready(job):
                break
        for uid, place in before.items():
            job.sub_jobs[uid].allocated_hyper_node = place
        saved = save_operations(*statements)
        fits = bool(saved) and (session.job_ready(job) or session.job_pipelined(job))
        if saved:
            for statement in statements:
                statement.discard()
        return (saved, copy, total) if fits else None

    def _allocate_sub_job(
        self, sub_job: SubJobInfo, sheet: Worksheet, hyper_node: HyperNodeInfo
    ) -> tuple[Statement, float] | None:
        """Places a sub-job in the best HyperNode below one, with its score."""
        session = self.session
        tasks = sheet.tasks[sub_job.uid]
        if not tasks:
            return None
        if sub_job.nominated_hyper_node:
            nominated = self.allocate_nominated(sub_job, tasks, hyper_node)
            if nominated is not None:
                return nominated
        job = session.jobs[sub_job.job]
        for gradient in self.gradients(Point.HYPER_NODE_GRADIENT_FOR_SUB_JOB, sub_job, hyper_node):
            plans: dict[str, tuple[list[Operation], TaskQueue]] = {}
            for tried in gradient:
                job.reset_fit_errors(sub_job)
                copy = tasks.clone()
                statement = self.allocator.allocate(sub_job, copy, tried.name)
                if statement is not None and statement.operations:
                    plans[tried.name] = (save_operations(statement), copy)
                    statement.discard()
            if not plans:
                continue
            best, score = self._best(sub_job, plans)
            final = session.statement()
            if not recover_operations(final, plans[best][0], session.nodes):
                return None
            place = session.hyper_nodes.lowest_common(sub_job.allocated_hyper_node, best)
            sub_job.allocated_hyper_node = place
            sheet.tasks[sub_job.uid] = plans[best][1]
            self._sub_jobs.setdefault((sub_job.job, hyper_node.name), {})[sub_job.uid] = place
            return final, score
        return None

    def _best(self, sub_job: SubJobInfo, plans: dict[str, tuple[list[Operation], TaskQueue]]) -> tuple[str, float]:
        """The HyperNode with the highest score."""
        groups = {name: self.session.hyper_nodes.real_nodes[name] for name in sorted(plans)}
        scores = dict.fromkeys(groups, 0.0)
        for _, fn in self.session.fns(Point.HYPER_NODE_ORDER):
            for name, score in fn(sub_job, groups).items():
                scores[name] += score
        highest = max(scores.values())
        return self.session.options.pick([name for name, score in scores.items() if score == highest]), highest

    def gradients(self, point: Point, subject: JobInfo | SubJobInfo, hyper_node: HyperNodeInfo) -> Gradients:
        """The HyperNodes to try, in groups of which the first is best; without a plugin only the given one."""
        for _, fn in self.session.fns(point):
            found: Gradients = fn(subject, hyper_node, False)
            return found
        return [[hyper_node]]

    def note_decision(self, job: JobInfo) -> None:
        """Writes the chosen HyperNodes down in a job whose tasks are bound."""
        chosen = self._jobs.get(job.uid)
        if not chosen:
            return
        hyper_nodes = self.session.hyper_nodes
        job.allocated_hyper_node = hyper_nodes.lowest_common(job.allocated_hyper_node, chosen)
        for uid, place in self._sub_jobs.get((job.uid, chosen), {}).items():
            sub_job = job.sub_jobs[uid]
            sub_job.allocated_hyper_node = hyper_nodes.lowest_common(sub_job.allocated_hyper_node, place)
            sub_job.nominated_hyper_node = ""

    # -- nominations -------------------------------------------------------------------------------------------

    def allocate_nominated(
        self, sub_job: SubJobInfo, tasks: TaskQueue, hyper_node: HyperNodeInfo
    ) -> tuple[Statement, float] | None:
        """Places a sub-job where an earlier eviction made room for it; None where that does not hold any more."""
        session = self.session
        pinned = sub_job.nominated_hyper_node
        plan = self._nominated_plan(sub_job, tasks)
        statement = session.statement()
        for task, node in plan or ():
            if sub_job.network_topology is not None:
                task.job_allocated_hyper_node = pinned
            if not self.allocator.place(statement, task, node):
                statement.discard()
                plan = None
                break
        if plan is None:
            self._forget_nomination(sub_job, tasks)
            return None
        tasks.clear()
        place = session.hyper_nodes.lowest_common(sub_job.allocated_hyper_node, pinned)
        sub_job.allocated_hyper_node = place
        self._sub_jobs.setdefault((sub_job.job, hyper_node.name), {})[sub_job.uid] = place
        return statement, 0.0

    def _nominated_plan(self, sub_job: SubJobInfo, tasks: TaskQueue) -> list[tuple[TaskInfo, NodeInfo]] | None:
        session = self.session
        queue = session.queues[session.jobs[sub_job.job].queue]
        rows = session.rows_of(sub_job.nominated_hyper_node)
        preview = tasks.clone()
        search = session.search(self.allocator.remembers)
        plan: list[tuple[TaskInfo, NodeInfo]] = []
        while preview:
            task = preview.pop()
            node = session.nodes.get(task.nominated_node)
            if not session.allocatable(queue, task) or node is None or node.row not in rows:
                return None
            if session.pre_predicate(task):
                return None
            severity, only = session.severity_to_allocate(task), session.all_rows[node.row : node.row + 1]
            found, _ = search.find(task, only, severity, REJECTED, session.judge_to_allocate)
            if not len(found):
                return None
            plan.append((task, node))
        return plan if len(rows) else None

    def _forget_nomination(self, sub_job: SubJobInfo, tasks: TaskQueue) -> None:
        sub_job.nominated_hyper_node = ""
        for task in tasks.items():
            task.nominated_node = ""
