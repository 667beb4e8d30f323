"""Places the tasks of one sub-job, one after the other, on nodes of one HyperNode.

Upstream: actions/allocate/allocate.go (allocateResourcesForTasks, prioritizeNodes).
"""

from dataclasses import dataclass

import numpy as np

from seatrial.scheduler.framework import Code
from seatrial.volcano.actions.worksheet import TaskQueue
from seatrial.volcano.cache.fit_errors import REJECTED, FitErrors, FitStatus
from seatrial.volcano.cache.hyper_node_info import CLUSTER_TOP
from seatrial.volcano.cache.job_info import JobInfo
from seatrial.volcano.cache.node_columns import Rows
from seatrial.volcano.cache.node_info import NodeInfo
from seatrial.volcano.cache.sub_job_info import SubJobInfo
from seatrial.volcano.cache.task_info import TaskInfo
from seatrial.volcano.framework.node_search import NodeSearch
from seatrial.volcano.framework.session import Session
from seatrial.volcano.framework.statement import Statement


@dataclass(slots=True)
class TaskAllocator:
    """Allocates tasks, or pipelines them where resources are only about to be free."""

    session: Session
    remembers: bool

    def allocate(self, sub_job: SubJobInfo, tasks: TaskQueue, hyper_node: str) -> Statement | None:
        """Places tasks until the sub-job is ready; None where it comes to nothing and all was undone."""
        session = self.session
        job = session.jobs[sub_job.job]
        rows = session.rows_of(hyper_node)
        if not len(rows):
            return None
        statement = session.statement()
        search = session.search(self.remembers)
        place = sub_job.allocated_hyper_node
        while tasks:
            task = tasks.pop()
            if not self._is_wanted(job, sub_job, task):
                continue
            with session.measures.timed("scheduling_stage_duration_milliseconds", "Predicate"):
                found, errors = self._fitting(task, rows, search, is_last=not tasks)
            if errors is not None:
                if hyper_node != CLUSTER_TOP and errors.parts:
                    errors.hyper_node = hyper_node
                job.set_fit_errors(task, errors)
                if job.needs_more(sub_job):
                    continue
                break
            if sub_job.network_topology is not None:
                task.job_allocated_hyper_node = place
            node = self._best_node(task, found)
            if node is None or not self.place(statement, task, node):
                continue
            if sub_job.network_topology is not None:
                place = self._new_place(node, place)
            if session.sub_job_ready(job, sub_job):
                break
        return self._outcome(job, sub_job, statement)

    def _outcome(self, job: JobInfo, sub_job: SubJobInfo, statement: Statement) -> Statement | None:
        session = self.session
        if session.sub_job_ready(job, sub_job) or session.sub_job_pipelined(job, sub_job):
            return statement
        statement.discard()
        return None

    def _is_wanted(self, job: JobInfo, sub_job: SubJobInfo, task: TaskInfo) -> bool:
        """Whether a task is worth a search: its queue may have more, no gate holds it, its role has not failed."""
        if not self.session.allocatable(self.session.queues[job.queue], task) or task.sch_gated:
            return False
        if job.role_failed(sub_job, task):
            text = f"Task {task.name} with role spec {task.role} has already predicated failed, skip"
            job.set_fit_errors(task, FitErrors(error=text))
            return False
        return True

    def _fitting(self, task: TaskInfo, rows: Rows, search: NodeSearch, is_last: bool) -> tuple[Rows, FitErrors | None]:
        """The nodes a task fits on; the errors if it fits on no node."""
        session = self.session
        error = session.pre_predicate(task)
        if error:
            return rows[:0], FitErrors(everywhere=(len(rows), FitStatus(Code.ERROR, error)))
        severity = session.severity_to_allocate(task)
        found, errors = rows[:0], None
        nominated = session.nodes.get(task.nominated_node) if task.nominated_node else None
        if nominated is not None and nominated.row in rows and nominated.fits_future(task):
            only = np.asarray([nominated.row], np.intp)
            found, errors = search.find(task, only, severity, REJECTED, session.judge_to_allocate)
        if not len(found):
            found, errors = search.find(task, rows, severity, REJECTED, session.judge_to_allocate, is_last)
        return found, None if len(found) else errors

    def _best_node(self, task: TaskInfo, found: Rows) -> NodeInfo | None:
        """The best node with idle resources, otherwise the best with resources about to be free."""
        session = self.session
        candidates = found[session.fits_idle(task)[found]]
        if not len(candidates):
            candidates = found
        if not len(candidates):
            return None
        return session.node_list[int(candidates[0])] if len(candidates) == 1 else session.best_node(task, candidates)

    def place(self, statement: Statement, task: TaskInfo, node: NodeInfo) -> bool:
        """Allocates a task on a node, or pipelines it; False where a plugin refused.

        Where it does not fit any more nothing happens, and that is no failure: tasks before it may have taken the room
        that was nominated for them all.
        """
        if node.fits_idle(task):
            done = statement.allocate(task, node)
        elif node.fits_future(task):
            done = statement.pipeline(task, node, False)
        else:
            return True
        if done:
            self.session.measures.placed(self.session.jobs[task.job])
        return done

    def _new_place(self, node: NodeInfo, place: str) -> str:
        """The HyperNode all tasks are in once one more is on a node."""
        hyper_nodes = self.session.hyper_nodes
        lowest = hyper_nodes.lowest_of(node.name)
        return hyper_nodes.lowest_common(lowest, place) if lowest else place
