"""drf: jobs with the smaller dominant share go first; with a hierarchy, queues do.

Upstream: plugins/drf/drf.go.
"""

from collections.abc import Sequence

from seatrial.volcano.cache.job_info import JobInfo
from seatrial.volcano.cache.queue_info import QueueInfo
from seatrial.volcano.cache.resource import Resource, share
from seatrial.volcano.cache.task_info import ALLOCATED_STATUSES, TaskInfo
from seatrial.volcano.framework.extension_points import PERMIT, Point
from seatrial.volcano.framework.plugin import Plugin
from seatrial.volcano.framework.priority_queue import KeyOrder
from seatrial.volcano.plugins.queues.drf_hierarchy import DrfAttributes, Hierarchy

SHARE_DELTA = 0.000001


class Drf(Plugin):
    """Keeps the dominant share of every job, and of every queue of a hierarchy."""

    name = "drf"

    def on_session_open(self) -> None:
        session = self.session
        self._total = session.total_resource
        self._wholes = [(name, self._total.get(name)) for name in self._total.names()]
        self._hierarchy = Hierarchy(self._total) if session.conf.hierarchy_enabled(self.name) else None
        self.attributes: dict[str, DrfAttributes] = {}
        for job in session.jobs.values():
            attributes = self.attributes[job.uid] = DrfAttributes(_held(job))
            self._update(attributes)
            if self._hierarchy is not None:
                self._hierarchy.allocated.add(attributes.allocated)
                self._hierarchy.update(job, attributes, session.queues[job.queue])
        self.add(Point.PREEMPTABLE, self._preemptable)
        self.add(Point.JOB_ORDER, KeyOrder[JobInfo](lambda job: self.attributes[job.uid].share))
        if self._hierarchy is not None:
            self.add(Point.QUEUE_ORDER, self._queue_order)
            self.add(Point.RECLAIMABLE, self._reclaimable)
        session.subscribe(self)

    def on_session_close(self) -> None:
        for uid, attributes in self.attributes.items():
            self.session.measures.set("job_share", attributes.share, *uid.split("/"))

    def _share(self, allocated: Resource) -> float:
        return max([share(allocated.get(name), whole) for name, whole in self._wholes], default=0.0)

    def _update(self, attributes: DrfAttributes) -> None:
        attributes.share = max(self._share(attributes.allocated), 0.0)

    def _preemptable(self, preemptor: TaskInfo, candidates: Sequence[TaskInfo]) -> tuple[list[TaskInfo], int]:
        """Tasks whose job still has the larger share without them."""
        own = self.attributes.get(preemptor.job)
        if own is None:
            return [], PERMIT
        mine = max(self._share(own.allocated.clone().add(preemptor.resreq)), 0.0)
        left: dict[str, Resource] = {}
        victims = []
        for task in candidates:
            if task.job not in left:
                attributes = self.attributes.get(task.job)
                if attributes is None:
                    continue
                left[task.job] = attributes.allocated.clone()
            theirs = max(self._share(left[task.job].sub(task.resreq)), 0.0)
            if mine < theirs or abs(mine - theirs) <= SHARE_DELTA:
                victims.append(task)
        return victims, PERMIT

    def on_allocate(self, task: TaskInfo) -> None:
        self._moved(task, 1)

    def on_deallocate(self, task: TaskInfo) -> None:
        self._moved(task, -1)

    def _moved(self, task: TaskInfo, sign: int) -> None:
        attributes = self.attributes.get(task.job)
        if attributes is None:
            return
        for amount in (attributes.allocated, *((self._hierarchy.allocated,) if self._hierarchy else ())):
            if sign > 0:
                amount.add(task.resreq)
            else:
                amount.sub(task.resreq)
        self._update(attributes)
        if self._hierarchy is not None:
            job = self.session.jobs[task.job]
            self._hierarchy.update(job, attributes, self.session.queues[job.queue])

    # -- hierarchy ---------------------------------------------------------------------------------------------

    def _queue_order(self, left: QueueInfo, right: QueueInfo) -> int:
        assert self._hierarchy is not None
        answer = self._hierarchy.compare(left, right)
        return int(answer > 0) - int(answer < 0)

    def _reclaimable(self, reclaimer: TaskInfo, candidates: Sequence[TaskInfo]) -> tuple[list[TaskInfo], int]:
        """Tasks whose queue still goes after the reclaimer's when the task has changed hands."""
        session = self.session
        assert self._hierarchy is not None
        job = session.jobs.get(reclaimer.job)
        if job is None:
            return [], PERMIT
        trial = self._hierarchy.clone()
        queue = session.queues[job.queue]
        mine = DrfAttributes(self.attributes[job.uid].allocated.clone().add(reclaimer.resreq))
        trial.allocated.add(reclaimer.resreq)
        self._update(mine)
        trial.update(job, mine, queue)
        victims = []
        for task in candidates:
            other = session.jobs.get(task.job)
            if other is None:
                continue
            theirs = DrfAttributes(self.attributes[other.uid].allocated.clone().sub(task.resreq))
            other_queue = session.queues[other.queue]
            trial.allocated.sub(task.resreq)
            self._update(theirs)
            trial.update(other, theirs, other_queue)
            answer = trial.compare(queue, other_queue)
            trial.allocated.add(task.resreq)
            theirs.allocated.add(task.resreq)
            self._update(theirs)
            trial.update(other, theirs, other_queue)
            if answer < 0:
                victims.append(task)
        return victims, PERMIT


def _held(job: JobInfo) -> Resource:
    held = Resource()
    for status in ALLOCATED_STATUSES:
        for task in job.index.of(status).values():
            held.add(task.resreq)
    return held
