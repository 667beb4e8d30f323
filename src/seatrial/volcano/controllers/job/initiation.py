"""What a Job has besides its pods: the objects of its plugins, its claims and its PodGroup.

Upstream: initiateJob, initOnJobUpdate and createJobIOIfNotExist of pkg/controllers/job/job_controller_actions.go.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from seatrial.controllers.framework import Context, EventType, controller_reference
from seatrial.model.documents import Document, encode
from seatrial.model.errors import NotFound, StatusError
from seatrial.store import Memo, Stored
from seatrial.store.options import CreateOptions
from seatrial.volcano.apis import JOB, POD_GROUP
from seatrial.volcano.controllers.job import plugins
from seatrial.volcano.controllers.job.job_cache import JobCache, JobInfo
from seatrial.volcano.controllers.job.pod_group import (
    SPECS_KEPT,
    latest_trouble,
    min_resources,
    new_pod_group,
    update_pod_group,
)
from seatrial.volcano.controllers.job.prepared_objects import PreparedObjects
from seatrial.volcano.controllers.job.status import JobStatus

WRITER = "volcano-job"
_PRIORITY_CLASS = ("scheduling.k8s.io", "PriorityClass")
Record = Callable[[Stored, str, str, EventType], None]
"""Writes an event about a Job: its reason, its message and its type."""


class Initiation:
    """Makes what Jobs need before their pods."""

    def __init__(self, context: Context, jobs: JobCache, record: Record) -> None:
        self.store, self.kind = context.store, context.kind(*JOB)
        self._has_events = context.events is not None
        self._jobs, self._record = jobs, record
        self._owner = plugins.Owner(context.store, self.kind)
        self._groups = context.kind(*POD_GROUP)
        self._prepared = PreparedObjects(context.store, self._groups, WRITER, CreateOptions())
        self._claims = context.kind("v1", "PersistentVolumeClaim")
        self._settled: dict[str, tuple[int, int]] = {}
        """Generation of a Job, by its uid, and that of its PodGroup that agreed with it."""
        self._least: Memo[tuple[bytes, int], dict[str, str]] = Memo(SPECS_KEPT)

    def add(self, job: JobInfo, status: JobStatus) -> None:
        """Make what a Job that is not yet initiated needs; it is noted in the status."""
        if job.view.spec.plugins:
            with self._told(job, "PluginError", "Execute plugin when job add failed"):
                plugins.on_job_add(self._owner, job.stored.document(), status)
        if job.view.spec.volumes:
            with self._told(job, "PVCError", "Failed to create PVC"):
                self._create_claims(job.stored.document(), status)
        self._settle_group(job)

    def update(self, job: JobInfo) -> None:
        """Bring what a Job has to what it says now."""
        if job.view.spec.plugins:
            with self._told(job, "PluginError", "Execute plugin when job add failed"):
                plugins.on_job_update(self._owner, job.stored.document())
        self._settle_group(job)

    def delete(self, job: JobInfo, status: JobStatus) -> None:
        """Delete what plugins made; claims stay."""
        if job.view.spec.plugins:
            plugins.on_job_delete(self._owner, job.stored.document(), status)

    def is_enqueued(self, job: JobInfo) -> bool:
        """Whether the scheduler has let the Job in; a group that cannot be scheduled is told."""
        found = self._jobs.group(job.group)
        if found is None:
            return False
        if self._has_events and (trouble := latest_trouble(found[0].document())) is not None:
            name = f"{job.stored.namespace}:{job.stored.name}"
            text = f"PodGroup {name} {trouble['type'].lower()}, reason: {trouble['message']}"
            self._record(job.stored, "PodGroupPending", text, "Warning")
        return found[1].is_enqueued

    def delete_group(self, job: JobInfo) -> None:
        """Delete the PodGroup of a Job."""
        self._settled.pop(job.view.uid, None)
        try:
            self.store.delete(self._groups, job.group[1], namespace=job.group[0], writer=WRITER)
        except NotFound:
            return

    def forget(self, uid: str) -> None:
        """Drop what is kept of a Job that is gone."""
        self._settled.pop(uid, None)

    @contextmanager
    def _told(self, job: JobInfo, reason: str, what: str) -> Iterator[None]:
        """Write an event about a refusal."""
        try:
            yield
        except StatusError as error:
            self._record(job.stored, reason, f"{what}, err: {error}", "Warning")
            raise

    def _settle_group(self, job: JobInfo) -> None:
        """Create the PodGroup, or bring it to what the Job says now."""
        uid, generation, found = job.view.uid, job.view.metadata.generation, self._jobs.group(job.group)
        if found is not None and self._settled.get(uid) == (generation, found[1].metadata.generation):
            return
        try:
            if found is None:
                classes = self.store.writes(_PRIORITY_CLASS)
                self._prepared.create(job, (classes,), job.group[1], self._new_group)
            else:
                self._update_group(found[0], job.document())
        except StatusError as error:
            self._record(job.stored, "PodGroupError", f"Failed to create PodGroup, err: {error}", "Warning")
            raise
        found = self._jobs.group(job.group)
        if found is not None:
            self._settled[uid] = generation, found[1].metadata.generation

    def _least_resources(self, spec: Document) -> dict[str, str]:
        """What the least pods of a Job need; many Jobs have their tasks in common."""
        key = encode([spec.get("minAvailable"), spec["tasks"]]), self.store.writes(_PRIORITY_CLASS)
        known = self._least.get(key)
        if known is None:
            known = self._least[key] = min_resources(spec, self.store)
        return known

    def _new_group(self, job: Document) -> Document:
        return new_pod_group(job, self.kind, self._least_resources(job["spec"]))

    def _update_group(self, stored: Stored, job: Document) -> None:
        group, before = stored.document(), stored.document()["spec"]
        update_pod_group(group, job, self._least_resources(job["spec"]))
        if group["spec"] != before:
            self.store.update(self._groups, group, writer=WRITER)

    def _create_claims(self, job: Document, status: JobStatus) -> None:
        meta = job["metadata"]
        named = False
        for volume in job["spec"]["volumes"]:
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
