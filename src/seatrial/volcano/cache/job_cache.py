"""Tasks and jobs that are kept from one session to the next; only those that have changed are made again.

A session changes the tasks and jobs that it is given. Whatever it has changed, and whatever has changed in the cluster,
is read again for the next session; jobs that run undisturbed are not. Pods that have ended and belong to no PodGroup
cost nothing. Upstream: pkg/scheduler/cache/cache.go (Snapshot), which clones all of them.
"""

from seatrial.model.documents import Document, decode
from seatrial.scheduler.cache import PodInfo
from seatrial.scheduler.framework import ObjectLister
from seatrial.store import Stored
from seatrial.volcano.apis import SCHEDULER_NAME
from seatrial.volcano.cache.cluster_info import Priorities
from seatrial.volcano.cache.csi_volumes import volumes_of
from seatrial.volcano.cache.job_info import JobInfo, PodGroup
from seatrial.volcano.cache.task_info import TERMINATED_STATUSES, PodScheduled, TaskInfo, TaskStatus


class JobCache:
    """The tasks by the keys of their pods, and the jobs by uid."""

    def __init__(self, objects: ObjectLister, *, keeps: bool = True) -> None:
        """`keeps`: whether what no session has changed is kept; otherwise everything is made again for each session."""
        self._objects = objects
        self._keeps = keeps
        self._tasks: dict[str, TaskInfo] = {}
        self._members: dict[str, dict[str, None]] = {}
        """The keys of the tasks that name a PodGroup, by the uid of its job."""
        self._placed: dict[str, None] = {}
        """The keys of the tasks that are on a node and have not ended."""
        self._groups: dict[str, Document] = {}
        self._jobs: dict[str, JobInfo] = {}
        self._order: list[str] | None = None
        """The uids of all PodGroups in order; None where one was added or removed."""
        self._fresh_tasks: set[str] = set()
        self._fresh_jobs: set[str] = set()
        """The keys of tasks and the uids of jobs that no session has seen as they are."""
        self._priorities = Priorities({})
        self.written_conditions: dict[str, PodScheduled] = {}
        """What the scheduler last wrote into the PodScheduled condition of pods, by uid."""

    def put_pod(self, pod: PodInfo, stored: Stored) -> None:
        """Take the new state of a pod that is on a node or waits for Volcano."""
        self._forget(pod.key)
        if not pod.node and pod.shape.scheduler_name != SCHEDULER_NAME:
            return
        task = self._tasks[pod.key] = self._new_task(pod, stored)
        if task.job:
            self._members.setdefault(task.job, {})[pod.key] = None
            self._join(task)
        if task.node_name and task.status not in TERMINATED_STATUSES:
            self._placed[pod.key] = None

    def _join(self, task: TaskInfo) -> None:
        """A new task comes to its job, which is made again where a session has changed it."""
        job = self._jobs.get(task.job)
        if job is None:
            return
        if task.job in self._fresh_jobs or job.is_as_read:
            self._fresh_jobs.add(task.job)
            job.add_task(task)
        else:
            del self._jobs[task.job]

    def remove_pod(self, key: str) -> None:
        task = self._tasks.get(key)
        if task is not None:
            self.written_conditions.pop(task.uid, None)
        self._forget(key)

    def _forget(self, key: str) -> None:
        task = self._tasks.pop(key, None)
        self._placed.pop(key, None)
        if task is None or not task.job:
            return
        members = self._members.get(task.job, {})
        members.pop(key, None)
        if not members:
            self._members.pop(task.job, None)
        self._jobs.pop(task.job, None)

    def known(self, key: str) -> tuple[PodInfo, Stored] | None:
        """A pod as it was last put."""
        task = self._tasks.get(key)
        return (task.pod, task.source) if task is not None and isinstance(task.source, Stored) else None

    def put_group(self, stored: Stored, *, only_status: bool = False) -> None:
        """Take the new state of a PodGroup; where only its status has changed, no more than that is decoded."""
        uid = f"{stored.namespace}/{stored.name}"
        known = self._groups.get(uid)
        if known is None:
            self._order = None
        if known is not None and only_status:
            self._groups[uid] = known | {"status": decode(stored.encoded_status or b"{}")}
            return
        self._groups[uid] = stored.document()
        self._jobs.pop(uid, None)

    def remove_group(self, namespace: str, name: str) -> None:
        uid = f"{namespace}/{name}"
        if self._groups.pop(uid, None) is not None:
            self._order = None
        self._jobs.pop(uid, None)

    def has_pending(self) -> bool:
        """Whether a pod of Volcano's waits for a node."""
        return any(
            task.first_status is TaskStatus.PENDING and task.pod.shape.scheduler_name == SCHEDULER_NAME
            for task in self._tasks.values()
        )

    def snapshot(self, priorities: Priorities) -> tuple[list[TaskInfo], dict[str, JobInfo]]:
        """The tasks on nodes, and all jobs with their tasks in the order of the uids."""
        if priorities != self._priorities or not self._keeps:
            self._priorities = priorities
            self._jobs.clear()
        if self._order is None:
            self._order = sorted(self._groups)
        jobs = {uid: self._job(uid) for uid in self._order}
        placed = [self._task(key) for key in self._placed]
        self._jobs = dict(jobs)
        self._fresh_tasks.clear()
        self._fresh_jobs.clear()
        return placed, jobs

    def _job(self, uid: str) -> JobInfo:
        job, group = self._jobs.get(uid), PodGroup.read(self._groups[uid])
        if job is not None and (uid in self._fresh_jobs or job.is_as_read):
            job.pod_group = group
            return job
        job = JobInfo(group, self._priorities.of(group))
        for key in self._members.get(uid, ()):
            job.add_task(self._task(key))
        return job

    def _task(self, key: str) -> TaskInfo:
        task = self._tasks[key]
        if key not in self._fresh_tasks and not (self._keeps and task.is_as_read):
            task = self._tasks[key] = self._new_task(task.pod, task.source)
        return task

    def _new_task(self, pod: PodInfo, source: Document | Stored) -> TaskInfo:
        volumes = volumes_of(pod, self._objects) if pod.shape.volumes else None
        self._fresh_tasks.add(pod.key)
        return TaskInfo(pod, source, self.written_conditions.get(pod.uid), volumes)
