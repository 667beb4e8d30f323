"""Bringing the pods of a Job to where it wants them, and killing them.

Upstream: syncJob and killPods of pkg/controllers/job/job_controller_actions.go (v1.15.1). As there, a kill counts
only the pods that are terminating, and deletes the PodGroup, whether all pods go or only those of a target.
"""

from dataclasses import dataclass

import msgspec

from seatrial.controllers.framework import FROM_TEMPLATE, Context
from seatrial.model.documents import Document
from seatrial.model.durations import format_duration
from seatrial.model.errors import AlreadyExists, NotFound, StatusError
from seatrial.model.times import parse_time
from seatrial.store.registry import write_status
from seatrial.volcano.apis import JOB, QUEUE
from seatrial.volcano.apis.labels import OUT_OF_SYNC
from seatrial.volcano.controllers.job import plugins
from seatrial.volcano.controllers.job.initiation import WRITER, Initiation, Record
from seatrial.volcano.controllers.job.job_cache import JobCache, JobInfo
from seatrial.volcano.controllers.job.job_pods import JobPod, JobPods
from seatrial.volcano.controllers.job.pods import job_pod, pod_name
from seatrial.volcano.controllers.job.prepared_objects import PreparedObjects
from seatrial.volcano.controllers.job.state import RETAIN_SOFT, SYNC, Step, Update, next_step
from seatrial.volcano.controllers.job.status import JobStatus, JobView, TaskSpec

DEFAULT_MAX_RETRY = 3


@dataclass(frozen=True, slots=True)
class Target:
    """The pods that a targeted action kills."""

    action: str
    task: str
    pod: str
    partition: str

    def includes(self, pod: JobPod) -> bool:
        match self.action:
            case "RestartPod":
                return pod.name == self.pod
            case "RestartPartition":
                return bool(pod.partition) and pod.partition == self.partition
        return True


class JobActions:
    """What the states of a Job do to its pods."""

    def __init__(self, context: Context, jobs: JobCache, pods: JobPods, record: Record) -> None:
        self.context, self.store = context, context.store
        self._jobs, self._pods = jobs, pods
        self._record = record
        self._initiation = Initiation(context, jobs, record)
        self.kind = context.kind(*JOB)
        self._pod_kind = context.kind("v1", "Pod")
        self._prepared = PreparedObjects(context.store, self._pod_kind, WRITER, FROM_TEMPLATE)
        self._queues = context.kind(*QUEUE)
        self._rests: dict[str, tuple[object, ...]] = {}
        """The situation that the last sync of a Job left, by the Job's uid, unless it goes on from there."""

    def sync(self, job: JobInfo, update: Update | None) -> None:
        """Create the missing pods of a Job whose PodGroup is enqueued, delete the surplus, and count."""
        view = job.view
        if view.metadata.deletion_timestamp or self.store.find_current(self._queues, view.spec.queue, "") is None:
            return
        if self._rests.get(view.uid) == self._situation(job, view.status):
            return
        status = self._initiate(job)
        job = self._jobs.job(job.key) or job
        fresh = self._counted(job, status) if self._initiation.is_enqueued(job) else status.copy()
        if update is not None:
            update(job.view.spec, fresh)
        if fresh != status:
            fresh.note_transition(self.context.clock.now())
            self._write(job, fresh)
        if not fresh.terminating and self._comes_to_rest(job, view.status.state.phase or "Pending", fresh):
            self._rests[view.uid] = self._situation(job, fresh)

    def _comes_to_rest(self, job: JobInfo, before: str, status: JobStatus) -> bool:
        """Whether a sync in the phase that a Job has come to would leave everything as it is."""
        if status.state.phase == before:
            return True
        step = next_step(status.state.phase, SYNC)
        return step.operation == "sync" and not (step.update and step.update(job.view.spec, status.copy()))

    def _situation(self, job: JobInfo, status: JobStatus) -> tuple[object, ...]:
        """All that a sync goes by: another sync in the situation that the last one left does nothing."""
        found = self._jobs.group(job.group)
        group: tuple[object, ...] = ()
        if found is not None:
            stored, view = found
            # The conditions of the group matter to events alone.
            group = view.metadata.generation, view.is_enqueued, stored.revision if self.context.events else 0
        return (
            job.view.metadata.generation,
            status.state.phase,
            status.version,
            status.retry_count,
            *group,
            self._pods.stamp(job.key),
        )

    def _initiate(self, job: JobInfo) -> JobStatus:
        """Make what a Job needs before its pods; the status it has then."""
        status = job.view.status.copy()
        phase = status.state.phase
        if not phase:
            status.state.phase = "Pending"
            status.min_available = job.view.spec.min_available
            status.note_transition(self.context.clock.now())
            self._write(job, status)
        if phase in ("", "Pending"):
            self._initiation.add(job, status)
        else:
            self._initiation.update(job)
        return status

    def kill(self, job: JobInfo, step: Step, target: Target | None) -> None:
        """Delete the pods of a Job, but for those in a retained phase, and its PodGroup."""
        view, status = job.view, job.view.status.copy()
        if view.metadata.deletion_timestamp:
            return
        doomed = self._doomed(job, status, step, target)
        if target is not None and target.action == "RestartPartition" and not doomed:
            return
        if target is None:
            status.version += 1
        terminating = 0 if target is not None else sum(pod.is_deleting for pod in self._pods.of_job(job.key))
        for pod in doomed:
            self._mark(pod)
            if not pod.is_deleting:
                self._delete(pod)
            terminating += 1
        status.pending = status.running = status.succeeded = status.failed = status.unknown = 0
        status.terminating, status.task_status_count = terminating, {}
        if step.update is not None and step.update(view.spec, status):
            status.note_transition(self.context.clock.now())
        status.running_duration = _lasted(view, status)
        self._initiation.delete(job, status)
        self._write(job, status)
        self._initiation.delete_group(job)

    def forget(self, uid: str) -> None:
        """Drop what is kept of a Job that is gone."""
        self._initiation.forget(uid)
        self._rests.pop(uid, None)

    def task_completed(self, pod: JobPod) -> bool:
        """Whether all pods of the task have succeeded."""
        task = self._task(pod)
        rows = self._pods.of_task((pod.namespace, pod.job), pod.task).values()
        replicas = task.replicas if task is not None else 0
        return replicas > 0 and sum(row.phase == "Succeeded" for row in rows) >= replicas

    def task_failed(self, pod: JobPod) -> bool:
        """Whether the containers of the task were restarted as often as it may try."""
        if not pod.restarts:
            return False
        task = self._task(pod)
        if task is None or not task.replicas or task.max_retry == -1:
            return False
        rows = self._pods.of_task((pod.namespace, pod.job), pod.task).values()
        restarts = sum(row.restarts for row in rows if row.phase in ("Running", "Pending"))
        return restarts >= (task.max_retry or DEFAULT_MAX_RETRY)

    # Pods.

    def _counted(self, job: JobInfo, status: JobStatus) -> JobStatus:
        """The counts of a Job after its missing pods are created and its surplus ones deleted."""
        fresh = JobStatus(
            state=msgspec.structs.replace(status.state),
            version=status.version,
            min_available=job.view.spec.min_available,
            task_status_count={},
            controlled_resources=status.controlled_resources,
            conditions=status.conditions,
            retry_count=status.retry_count,
        )
        surplus: list[JobPod] = []
        missing: list[tuple[int, int]] = []
        for place, task in enumerate(job.view.spec.tasks):
            rows = dict(self._pods.of_task(job.key, task.name))
            for index in range(task.replicas):
                row = rows.pop(pod_name(job.stored.name, task.name, index), None)
                if row is None:
                    missing.append((place, index))
                elif row.is_deleting:
                    fresh.terminating += 1
                else:
                    if row.is_out_of_sync:
                        surplus.append(row)
                    fresh.count(task.name, row.phase)
            surplus += rows.values()
        if missing:
            self._create_pods(job, status, fresh, missing)
        for row in surplus:
            self._delete(row)
            fresh.terminating += 1
        return fresh

    def _create_pods(self, job: JobInfo, status: JobStatus, fresh: JobStatus, missing: list[tuple[int, int]]) -> None:
        """Create pods by the places of their tasks; a refused one does not keep the others from being created."""
        may_start = [self._may_start(job, task) for task in job.view.spec.tasks]
        refusals = []
        for place, index in missing:
            if not may_start[place]:
                continue
            task = job.view.spec.tasks[place].name
            name = pod_name(job.stored.name, task, index)
            try:
                self._create_pod(job, status, place, index, name)
            except AlreadyExists:
                continue
            except StatusError as error:
                refusals.append(f"failed to create pod {name}, err: {error}")
            else:
                fresh.count(task, "Pending")
        if refusals:
            self._record(job.stored, "FailedCreate", f"Error creating pods: [{' '.join(refusals)}]", "Warning")
            raise StatusError(f"failed to create {len(refusals)} pods of {len(missing)}")

    def _create_pod(self, job: JobInfo, status: JobStatus, place: int, index: int, name: str) -> None:
        def make(document: Document) -> Document:
            task = document["spec"]["tasks"][place]
            pod = job_pod(document, self.kind, task, index, status.version, status.retry_count)
            plugins.on_pod_create(document, pod)
            return pod

        self._prepared.create(job, (place, index, status.version, status.retry_count), name, make)

    def _may_start(self, job: JobInfo, task: TaskSpec) -> bool:
        """Whether the tasks that a task depends on have come far enough."""
        depends = task.depends_on
        if depends is None:
            return True
        found = (self._has_started(job, name) for name in depends.name)
        return any(found) if len(depends.name) > 1 and depends.iteration == "any" else all(found)

    def _has_started(self, job: JobInfo, name: str) -> bool:
        rows = self._pods.of_task(job.key, name).values()
        started = sum(row.phase == "Succeeded" or (row.phase == "Running" and row.is_ready) for row in rows)
        task = job.view.spec.task(name)
        return task is not None and started >= (task.min_available or 0)

    def _doomed(self, job: JobInfo, status: JobStatus, step: Step, target: Target | None) -> list[JobPod]:
        if target is not None:
            return [pod for pod in list(self._pods.of_task(job.key, target.task).values()) if target.includes(pod)]
        is_last_try = status.retry_count >= job.view.spec.max_retry - 1
        retained = RETAIN_SOFT if is_last_try else step.retain
        return [pod for pod in self._pods.of_job(job.key) if not pod.is_deleting and pod.phase not in retained]

    def _mark(self, pod: JobPod) -> None:
        """Note on a pod that its end is the controller's doing, so that no policy answers it."""

        def mark(document: Document) -> None:
            document["metadata"].setdefault("annotations", {})[OUT_OF_SYNC] = "true"

        try:
            self.store.modify(self._pod_kind, pod.name, mark, namespace=pod.namespace, writer=WRITER)
        except NotFound:
            return

    def _delete(self, pod: JobPod) -> None:
        try:
            self.store.delete(self._pod_kind, pod.name, namespace=pod.namespace, writer=WRITER)
        except NotFound:
            return

    def _task(self, pod: JobPod) -> TaskSpec | None:
        job = self._jobs.job((pod.namespace, pod.job))
        return job.view.spec.task(pod.task) if job is not None else None

    def _write(self, job: JobInfo, status: JobStatus) -> None:
        current = self._jobs.job(job.key)
        if current is not None:
            write_status(self.store, current.stored, msgspec.json.encode(status), WRITER)


def _lasted(view: JobView, status: JobStatus) -> str:
    """The time from the creation of a Job to its latest transition."""
    moment = status.state.last_transition_time
    return format_duration(parse_time(moment) - parse_time(view.metadata.creation_timestamp)) if moment else "0s"
