"""The pods of Volcano Jobs, one small row each, by Job and task.

Upstream: pkg/controllers/cache and pkg/controllers/apis/job_info.go.
"""

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from seatrial.store import OwnerReference, StatusView, Stored, View
from seatrial.volcano.apis import BATCH
from seatrial.volcano.apis.labels import JOB_NAME, JOB_VERSION, OUT_OF_SYNC, PARTITION_ID, TASK_SPEC

ROWS_KEPT = 4096


class _Annotations(msgspec.Struct, frozen=True, gc=False):
    job: str = msgspec.field(default="", name=JOB_NAME)
    task: str = msgspec.field(default="", name=TASK_SPEC)
    version: str = msgspec.field(default="", name=JOB_VERSION)
    out_of_sync: str | None = msgspec.field(default=None, name=OUT_OF_SYNC)


class _Labels(msgspec.Struct, frozen=True, gc=False):
    partition: str = msgspec.field(default="", name=PARTITION_ID)


class _Metadata(msgspec.Struct, rename="camel"):
    annotations: _Annotations = _Annotations()
    labels: _Labels = _Labels()
    owner_references: list[OwnerReference] = []
    deletion_timestamp: str | None = None


class _Terminated(msgspec.Struct, rename="camel"):
    exit_code: int = 0


class _State(msgspec.Struct):
    terminated: _Terminated | None = None


class _Container(msgspec.Struct, rename="camel"):
    ready: bool = False
    restart_count: int = 0
    state: _State = msgspec.field(default_factory=_State)


class _Status(msgspec.Struct, rename="camel"):
    phase: str = "Pending"
    container_statuses: list[_Container] = []
    init_container_statuses: list[_Container] = []


class _Pod(msgspec.Struct):
    metadata: _Metadata


class JobPod(msgspec.Struct, frozen=True, gc=False):
    """What the controller asks of a pod."""

    namespace: str
    name: str
    uid: str
    job: str
    job_uid: str
    task: str
    version: int
    partition: str
    phase: str
    exit_code: int
    restarts: int
    is_ready: bool
    is_deleting: bool
    is_out_of_sync: bool


class _Shared(NamedTuple):
    """What a row has but for the pod's own fields."""

    job: str
    job_uid: str
    task: str
    version: int
    partition: str
    is_deleting: bool
    is_out_of_sync: bool

    @classmethod
    def of(cls, pod: _Pod) -> "_Shared | None":
        meta, notes = pod.metadata, pod.metadata.annotations
        owner = next((owner for owner in meta.owner_references if owner.controller), None)
        if owner is None or owner.kind != "Job" or owner.api_version != BATCH:
            return None
        if not notes.job or not notes.task or not notes.version.isdigit():
            return None
        is_deleting, is_out_of_sync = meta.deletion_timestamp is not None, notes.out_of_sync is not None
        version, partition = int(notes.version), meta.labels.partition
        return cls(notes.job, owner.uid, notes.task, version, partition, is_deleting, is_out_of_sync)


def read_pod(stored: Stored) -> JobPod | None:
    """The row of a pod that a Volcano Job controls; None for any other pod."""
    pod = _POD.read(stored)
    if pod is None:
        return None
    return JobPod(
        stored.namespace, stored.name, stored.uid, pod.job, pod.job_uid, pod.task, pod.version, pod.partition,
        *_STATUS.read(stored), pod.is_deleting, pod.is_out_of_sync,
    )  # fmt: skip


def _summary(status: _Status) -> tuple[str, int, int, bool]:
    """Phase, exit code, restarts and whether all containers are ready."""
    containers = status.container_statuses
    ended = containers[0].state.terminated if containers else None
    restarts = sum(each.restart_count for each in (*containers, *status.init_container_statuses))
    return status.phase, ended.exit_code if ended is not None else 0, restarts, all(each.ready for each in containers)


_POD = View(_Pod, _Shared.of, kept=ROWS_KEPT)
_STATUS = StatusView(_Status, _summary, kept=ROWS_KEPT)


class JobPods:
    """All pods of Jobs, by namespace and name of the Job, then by task, then by name."""

    def __init__(self) -> None:
        self._jobs: dict[tuple[str, str], dict[str, dict[str, JobPod]]] = {}
        self._stamps: dict[tuple[str, str], int] = {}
        self._changes = 0

    def put(self, pod: JobPod) -> None:
        if self.find(pod) == pod:
            return
        self._stamp(pod)
        self._jobs.setdefault((pod.namespace, pod.job), {}).setdefault(pod.task, {})[pod.name] = pod

    def remove(self, pod: JobPod) -> None:
        self._stamp(pod)
        tasks = self._jobs.get((pod.namespace, pod.job), {})
        pods = tasks.get(pod.task, {})
        pods.pop(pod.name, None)
        if not pods:
            tasks.pop(pod.task, None)
        if not tasks:
            self._jobs.pop((pod.namespace, pod.job), None)
            self._stamps.pop((pod.namespace, pod.job), None)

    def stamp(self, job: tuple[str, str]) -> int:
        """A number that is another one whenever a pod of the Job has changed; 0 for a Job without pods."""
        return self._stamps.get(job, 0)

    def _stamp(self, pod: JobPod) -> None:
        self._changes += 1
        self._stamps[pod.namespace, pod.job] = self._changes

    def find(self, pod: JobPod) -> JobPod | None:
        """The row of the same pod as it was last put."""
        return self.of_task((pod.namespace, pod.job), pod.task).get(pod.name)

    def of_task(self, job: tuple[str, str], task: str) -> dict[str, JobPod]:
        return self._jobs.get(job, {}).get(task, {})

    def of_job(self, job: tuple[str, str]) -> Iterator[JobPod]:
        return (pod for pods in list(self._jobs.get(job, {}).values()) for pod in list(pods.values()))

    def clear(self) -> None:
        self._jobs.clear()
        self._stamps.clear()
