"""priority: more important tasks and jobs go first, and may evict less important ones. Upstream: plugins/priority."""

from collections.abc import Sequence
from typing import Any

from seatrial.volcano.cache.job_info import JobInfo
from seatrial.volcano.cache.task_info import TaskInfo
from seatrial.volcano.framework.eviction import EvictionContext, EvictionKind
from seatrial.volcano.framework.extension_points import PERMIT, Point
from seatrial.volcano.framework.plugin import Plugin
from seatrial.volcano.framework.priority_queue import KeyOrder


class Priority(Plugin):
    """Compares priorities of jobs, and of tasks within a job."""

    name = "priority"

    def on_session_open(self) -> None:
        for point in (Point.TASK_ORDER, Point.JOB_ORDER, Point.SUB_JOB_ORDER):
            self.add(point, KeyOrder[Any](lambda one: -one.priority))
        self.add(Point.PREEMPTABLE, self._preemptable)
        self.add(Point.UNIFIED_EVICTABLE, self._evictable)
        self.add(Point.JOB_STARVING, self._starving)

    def _preemptable(self, preemptor: TaskInfo, candidates: Sequence[TaskInfo]) -> tuple[list[TaskInfo], int]:
        jobs = self.session.jobs
        own = jobs.get(preemptor.job)
        if own is None:
            return [], PERMIT
        victims = []
        for task in candidates:
            job = jobs.get(task.job)
            if job is None:
                continue
            is_lower = task.priority < preemptor.priority if job is own else job.priority < own.priority
            if is_lower:
                victims.append(task)
        return victims, PERMIT

    def _evictable(self, context: EvictionContext, candidates: Sequence[TaskInfo]) -> tuple[list[TaskInfo], int]:
        if context.kind is EvictionKind.GANG_RECLAIM:
            return list(candidates), PERMIT
        jobs = self.session.jobs
        return [task for task in candidates if jobs[task.job].priority < context.job.priority], PERMIT

    def _starving(self, job: JobInfo) -> bool:
        return job.ready_tasks + job.index.waiting < len(job.index)
