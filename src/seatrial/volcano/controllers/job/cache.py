"""The pods of Volcano Jobs, one small row each, by Job and task.

Upstream: pkg/controllers/cache and pkg/controllers/apis/job_info.go.
"""

from collections.abc import Iterator
from functools import lru_cache

import msgspec

from seatrial.store import Facets, Memo, Stored
from seatrial.volcano.apis import BATCH
from seatrial.volcano.apis.labels import JOB_NAME, JOB_VERSION, OUT_OF_SYNC, PARTITION_ID, TASK_SPEC

PODS_KEPT = 16_384
STATUSES_KEPT = 4096
_MARK = f'"{JOB_NAME}"'.encode()


class _Annotations(msgspec.Struct, frozen=True, gc=False):
    job: str = msgspec.field(default="", name=JOB_NAME)
    task: str = msgspec.field(default="", name=TASK_SPEC)
    version: str = msgspec.field(default="", name=JOB_VERSION)
    out_of_sync: str | None = msgspec.field(default=None, name=OUT_OF_SYNC)


class _Labels(msgspec.Struct, frozen=True, gc=False):
    partition: str = msgspec.field(default="", name=PARTITION_ID)


class _Owner(msgspec.Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""
    uid: str = ""
    controller: bool | None = None


class _Metadata(msgspec.Struct, rename="camel"):
    uid: str = ""
    annotations: _Annotations = _Annotations()
    labels: _Labels = _Labels()
    owner_references: list[_Owner] = []
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
    status: _Status = msgspec.field(default_factory=_Status)


_decoder, _status_decoder = msgspec.json.Decoder(_Pod), msgspec.json.Decoder(_Status)


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


_alike: Memo[int, JobPod | None] = Memo(PODS_KEPT)
"""By likeness: the row of a pod."""


_kin: Memo[int, JobPod | None] = Memo(PODS_KEPT)
"""By template: the row of a pod."""


def read_pod(stored: Stored) -> JobPod | None:
    """The row of a pod that a Volcano Job controls; None for any other pod. Pods that are alike are decoded once."""
    if _MARK not in stored.data:
        return None
    facets = stored.facets
    if facets is None:
        return _decoded(stored)
    if facets.likeness not in _alike:
        _alike[facets.likeness] = _first_alike(stored, facets)
    like = _alike[facets.likeness]
    if like is None:
        return None
    return JobPod(
        stored.namespace, stored.name, facets.uid, like.job, like.job_uid, like.task, like.version, like.partition,
        *_read_status(facets.status), like.is_deleting, like.is_out_of_sync,
    )  # fmt: skip


def _first_alike(stored: Stored, facets: Facets) -> JobPod | None:
    """The row of a pod of a new likeness; pods of one template are decoded once."""
    kin = facets.kin
    if kin is None:
        return _decoded(stored)
    if kin.number not in _kin:
        _kin[kin.number] = _decoded(stored)
    like, owner = _kin[kin.number], facets.owner()
    if like is None:
        return None
    return msgspec.structs.replace(
        like,
        job=facets.annotation(JOB_NAME, like.job),
        job_uid=like.job_uid if owner is None else owner[1],
        partition=facets.labels({PARTITION_ID: like.partition})[PARTITION_ID],
    )


def _decoded(stored: Stored) -> JobPod | None:
    pod = _decoder.decode(stored.data)
    meta = pod.metadata
    owner = next((owner for owner in meta.owner_references if owner.controller), None)
    notes = meta.annotations
    if owner is None or owner.kind != "Job" or owner.api_version != BATCH:
        return None
    if not notes.job or not notes.task or not notes.version.isdigit():
        return None
    phase, exit_code, restarts, is_ready = _summary(pod.status)
    return JobPod(
        namespace=stored.namespace,
        name=stored.name,
        uid=meta.uid,
        job=notes.job,
        job_uid=owner.uid,
        task=notes.task,
        version=int(notes.version),
        partition=meta.labels.partition,
        phase=phase,
        exit_code=exit_code,
        restarts=restarts,
        is_ready=is_ready,
        is_deleting=meta.deletion_timestamp is not None,
        is_out_of_sync=notes.out_of_sync is not None,
    )


@lru_cache(STATUSES_KEPT)
def _read_status(encoded: bytes) -> tuple[str, int, int, bool]:
    return _summary(_status_decoder.decode(encoded))


def _summary(status: _Status) -> tuple[str, int, int, bool]:
    """Phase, exit code, restarts and whether all containers are ready."""
    containers = status.container_statuses
    ended = containers[0].state.terminated if containers else None
    restarts = sum(each.restart_count for each in (*containers, *status.init_container_statuses))
    return status.phase, ended.exit_code if ended is not None else 0, restarts, all(each.ready for each in containers)


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
