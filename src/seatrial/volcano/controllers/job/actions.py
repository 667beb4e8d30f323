"""Bringing the pods of a Job to where it wants them, and killing them.

Upstream: syncJob and killPods of pkg/controllers/job/job_controller_actions.go (v1.15.1). As there, a kill counts
only the pods that are terminating, and deletes the PodGroup, whether all pods go or only those of a target.
"""

from dataclasses import dataclass

import msgspec

from seatrial.controllers.framework import FROM_TEMPLATE, Context, controller_reference
from seatrial.model.documents import Document
from seatrial.model.durations import format_duration
from seatrial.model.errors import AlreadyExists, NotFound, StatusError
from seatrial.model.times import parse_time
from seatrial.store import Stored
from seatrial.store.registry import write_status
from seatrial.volcano.apis import JOB, POD_GROUP, QUEUE
from seatrial.volcano.apis.labels import OUT_OF_SYNC
from seatrial.volcano.controllers.job import plugins
from seatrial.volcano.controllers.job.cache import JobPod, JobPods, read_group
from seatrial.volcano.controllers.job.pod_group import min_resources, new_pod_group, pod_group_name, update_pod_group
from seatrial.volcano.controllers.job.pods import job_pod, pod_name
from seatrial.volcano.controllers.job.state import RETAIN_SOFT, Step, Update
from seatrial.volcano.controllers.job.status import JobStatus, JobView, read_job, read_status

WRITER = "volcano-job"
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

    def __init__(self, context: Context, pods: JobPods) -> None:
        self.context, self.store = context, context.store
        self._pods = pods
        self.kind = context.kind(*JOB)
        self._pod_kind = context.kind("v1", "Pod")
        self._groups = context.kind(*POD_GROUP)
        self._queues = context.kind(*QUEUE)
        self._claims = context.kind("v1", "PersistentVolumeClaim")
        self._settled: dict[str, tuple[int, int]] = {}
        """Generation of a Job, by its uid, and that of its PodGroup that agreed with it."""
        self._needs: dict[str, tuple[int, dict[str, str]]] = {}
        """Generation of a Job, by its uid, and the least resources of its PodGroup."""
        self._rests: dict[str, tuple[object, ...]] = {}
        """The situation that the last sync of a Job left, by the Job's uid, unless it goes on from there."""

    def sync(self, stored: Stored, update: Update | None) -> None:
        """Create the missing pods of a Job whose PodGroup is enqueued, delete the surplus, and count."""
        view = read_job(stored)
        if view.metadata.deletion_timestamp or self.store.find(self._queues, view.spec.queue) is None:
            return
        if self._rests.get(view.metadata.uid) == self._situation(stored, view, view.status):
            return
        job = stored.document()
        status = self._initiate(stored, job, view.status)
        is_enqueued = self._is_enqueued(job)
        fresh = self._counted(stored, job, status) if is_enqueued else _copy(status)
        if update is not None:
            update(job["spec"], fresh)
        if fresh != status:
            fresh.note_transition(self.context.clock.now())
            self._write(stored, fresh)
        if fresh.state.phase == (view.status.state.phase or "Pending") and not fresh.terminating:
            self._rests[view.metadata.uid] = self._situation(stored, view, fresh)

    def _situation(self, stored: Stored, view: JobView, status: JobStatus) -> tuple[object, ...]:
        """All that a sync goes by: another sync in the situation that the last one left does nothing."""
        group = self.store.find(self._groups, f"{stored.name}-{view.metadata.uid}", stored.namespace)
        return (
            view.metadata.generation,
            status.state.phase,
            status.version,
            status.retry_count,
            group.revision if group is not None else 0,
            self._pods.stamp((stored.namespace, stored.name)),
        )

    def kill(self, stored: Stored, step: Step, target: Target | None) -> None:
        """Delete the pods of a Job, but for those in a retained phase, and its PodGroup."""
        job, status = stored.document(), read_status(stored)
        if "deletionTimestamp" in job["metadata"]:
            return
        doomed = self._doomed(job, status, step, target)
        if target is not None and target.action == "RestartPartition" and not doomed:
            return
        if target is None:
            status.version += 1
        terminating = 0 if target is not None else sum(pod.is_deleting for pod in self._all(job))
        for pod in doomed:
            self._mark(pod)
            if not pod.is_deleting:
                self._delete(pod)
            terminating += 1
        status.pending = status.running = status.succeeded = status.failed = status.unknown = 0
        status.terminating, status.task_status_count = terminating, {}
        if step.update is not None and step.update(job["spec"], status):
            status.note_transition(self.context.clock.now())
        status.running_duration = _lasted(job, status)
        plugins.on_job_delete(self.store, job, status)
        self._write(stored, status)
        self._delete_group(job)

    def task_completed(self, pod: JobPod) -> bool:
        """Whether all pods of the task have succeeded."""
        task = self._task(pod)
        replicas = task.get("replicas", 0) if task is not None else 0
        rows = self._pods.of_task((pod.namespace, pod.job), pod.task).values()
        return replicas > 0 and sum(row.phase == "Succeeded" for row in rows) >= replicas

    def task_failed(self, pod: JobPod) -> bool:
        """Whether the containers of the task were restarted as often as it may try."""
        if not pod.restarts:
            return False
        task = self._task(pod)
        if task is None or not task.get("replicas") or task.get("maxRetry") == -1:
            return False
        rows = self._pods.of_task((pod.namespace, pod.job), pod.task).values()
        restarts = sum(row.restarts for row in rows if row.phase in ("Running", "Pending"))
        return restarts >= (task.get("maxRetry") or DEFAULT_MAX_RETRY)

    # The PodGroup and what else a Job has.

    def _initiate(self, stored: Stored, job: Document, old: JobStatus) -> JobStatus:
        """Make what a Job needs before its pods; the status it has then."""
        status = _copy(old)
        if old.state.phase in ("", "Pending"):
            if not old.state.phase:
                status.state.phase = "Pending"
                status.min_available = job["spec"].get("minAvailable", 0)
                status.note_transition(self.context.clock.now())
                self._write(stored, status)
            status.controlled_resources = dict(status.controlled_resources)
            plugins.on_job_add(self.store, self.kind, job, status)
            self._create_claims(job, status)
        self._settle_group(job)
        return status

    def _settle_group(self, job: Document) -> None:
        meta = job["metadata"]
        stored = self.store.find(self._groups, pod_group_name(job), meta["namespace"])
        if stored is None:
            group = new_pod_group(job, self.kind, self._resources(job))
            made = self.store.create(self._groups, group, namespace=meta["namespace"], writer=WRITER)
            self._settled[meta["uid"]] = (meta["generation"], read_group(made).metadata.generation)
            return
        settled = (meta["generation"], read_group(stored).metadata.generation)
        if self._settled.get(meta["uid"]) == settled:
            return
        group, before = stored.document(), stored.document()["spec"]
        update_pod_group(group, job, self._resources(job))
        if group["spec"] != before:
            self.store.update(self._groups, group, writer=WRITER)
            return
        self._settled[meta["uid"]] = settled

    def _resources(self, job: Document) -> dict[str, str]:
        """What the least pods of a Job need; worked out once for each generation of the Job."""
        uid, generation = job["metadata"]["uid"], job["metadata"]["generation"]
        known = self._needs.get(uid)
        if known is None or known[0] != generation:
            known = self._needs[uid] = generation, min_resources(job["spec"], self.store)
        return known[1]

    def forget(self, uid: str) -> None:
        """Drop what is kept of a Job that is gone."""
        self._settled.pop(uid, None)
        self._needs.pop(uid, None)
        self._rests.pop(uid, None)

    def _create_claims(self, job: Document, status: JobStatus) -> None:
        meta = job["metadata"]
        named = False
        for volume in job["spec"].get("volumes") or ():
            name = volume.get("volumeClaimName")
            if not name:
                prefix = f"{meta['name']}-pvc-"
                name = prefix + self.store.identities.suffix(self._claims, meta["namespace"], prefix)
                volume["volumeClaimName"] = name
                named = True
                self._create_claim(job, name, volume.get("volumeClaim"))
            elif self.store.find(self._claims, name, meta["namespace"]) is None:
                why = f"pvc {name} is not found, the job will be in the Pending state until the PVC is created"
                raise StatusError(why)
            status.controlled_resources[f"volume-pvc-{name}"] = name
        if named:
            current = self.store.get(self.kind, meta["name"], meta["namespace"]).document()
            current["spec"]["volumes"] = job["spec"]["volumes"]
            self.store.update(self.kind, current, writer=WRITER)

    def _create_claim(self, job: Document, name: str, spec: Document | None) -> None:
        if spec is None:
            return
        metadata = {"name": name, "ownerReferences": [controller_reference(self.kind, job)]}
        claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}
        self.store.create(self._claims, claim, namespace=job["metadata"]["namespace"], writer=WRITER)

    def _is_enqueued(self, job: Document) -> bool:
        stored = self.store.find(self._groups, pod_group_name(job), job["metadata"]["namespace"])
        return stored is not None and read_group(stored).status.phase not in ("", "Pending")

    def _delete_group(self, job: Document) -> None:
        try:
            namespace = job["metadata"]["namespace"]
            self._settled.pop(job["metadata"]["uid"], None)
            self.store.delete(self._groups, pod_group_name(job), namespace=namespace, writer=WRITER)
        except NotFound:
            return

    # Pods.

    def _counted(self, stored: Stored, job: Document, status: JobStatus) -> JobStatus:
        """The counts of a Job after its missing pods are created and its surplus ones deleted."""
        fresh = JobStatus(
            state=msgspec.structs.replace(status.state),
            version=status.version,
            min_available=job["spec"].get("minAvailable", 0),
            task_status_count={},
            controlled_resources=status.controlled_resources,
            conditions=status.conditions,
            retry_count=status.retry_count,
        )
        key = stored.namespace, stored.name
        surplus: list[JobPod] = []
        missing: list[tuple[Document, int]] = []
        for task in job["spec"]["tasks"]:
            rows = dict(self._pods.of_task(key, task["name"]))
            for index in range(task.get("replicas", 0)):
                row = rows.pop(pod_name(stored.name, task["name"], index), None)
                if row is None:
                    missing.append((task, index))
                elif row.is_deleting:
                    fresh.terminating += 1
                else:
                    if row.is_out_of_sync:
                        surplus.append(row)
                    fresh.count(task["name"], row.phase)
            surplus += rows.values()
        self._create_pods(job, status, fresh, missing)
        for row in surplus:
            self._delete(row)
            fresh.terminating += 1
        return fresh

    def _create_pods(
        self, job: Document, status: JobStatus, fresh: JobStatus, missing: list[tuple[Document, int]]
    ) -> None:
        ready: dict[str, bool] = {}
        for task, index in missing:
            name = task["name"]
            if name not in ready:
                ready[name] = self._may_start(job, task)
            if not ready[name]:
                continue
            pod = job_pod(job, self.kind, task, index, status.version, status.retry_count)
            plugins.on_pod_create(job, pod)
            try:
                namespace = job["metadata"]["namespace"]
                self.store.create(self._pod_kind, pod, namespace=namespace, writer=WRITER, options=FROM_TEMPLATE)
            except AlreadyExists:
                continue
            fresh.count(name, "Pending")

    def _may_start(self, job: Document, task: Document) -> bool:
        """Whether the tasks that a task depends on have come far enough."""
        depends = task.get("dependsOn") or {}
        names = depends.get("name") or []
        found = (self._has_started(job, name) for name in names)
        return any(found) if len(names) > 1 and depends.get("iteration") == "any" else all(found)

    def _has_started(self, job: Document, name: str) -> bool:
        key = job["metadata"]["namespace"], job["metadata"]["name"]
        rows = self._pods.of_task(key, name).values()
        started = sum(row.phase == "Succeeded" or (row.phase == "Running" and row.is_ready) for row in rows)
        task = next((task for task in job["spec"]["tasks"] if task["name"] == name), None)
        return task is not None and started >= (task.get("minAvailable") or 0)

    def _doomed(self, job: Document, status: JobStatus, step: Step, target: Target | None) -> list[JobPod]:
        if target is not None:
            key = job["metadata"]["namespace"], job["metadata"]["name"]
            return [pod for pod in list(self._pods.of_task(key, target.task).values()) if target.includes(pod)]
        is_last_try = status.retry_count >= job["spec"].get("maxRetry", 0) - 1
        retained = RETAIN_SOFT if is_last_try else step.retain
        return [pod for pod in self._all(job) if not pod.is_deleting and pod.phase not in retained]

    def _all(self, job: Document) -> list[JobPod]:
        return list(self._pods.of_job((job["metadata"]["namespace"], job["metadata"]["name"])))

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

    def _task(self, pod: JobPod) -> Document | None:
        stored = self.store.find(self.kind, pod.job, pod.namespace)
        tasks: list[Document] = stored.document()["spec"]["tasks"] if stored is not None else []
        return next((task for task in tasks if task["name"] == pod.task), None)

    def _write(self, stored: Stored, status: JobStatus) -> None:
        current = self.store.find(self.kind, stored.name, stored.namespace)
        if current is not None:
            write_status(self.store, current, msgspec.json.encode(status), WRITER)


def _copy(status: JobStatus) -> JobStatus:
    return msgspec.structs.replace(status, state=msgspec.structs.replace(status.state))


def _lasted(job: Document, status: JobStatus) -> str:
    """The time from the creation of a Job to its latest transition."""
    moment = status.state.last_transition_time
    created = parse_time(job["metadata"]["creationTimestamp"])
    return format_duration(parse_time(moment) - created) if moment else "0s"
