"""The row that controllers keep of a pod: the fields that they read, with what pods share kept once."""

from collections.abc import Mapping

import msgspec

from seatrial.model.integers import int_of
from seatrial.model.times import parse_time
from seatrial.store import Change, Condition, OwnerReference, StatusView, Stored, View

DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index"
FAILURE_COUNT = "batch.kubernetes.io/job-index-failure-count"
IGNORED_FAILURE_COUNT = "batch.kubernetes.io/job-index-ignored-failure-count"
METADATA, SPEC = b'"creationTimestamp"', b'"spec":{'


class PodAnnotations(msgspec.Struct, frozen=True, gc=False):
    """The annotations that controllers read; a pod may carry a hundred times as much."""

    completion_index: str = msgspec.field(default="", name=COMPLETION_INDEX)
    failure_count: str = msgspec.field(default="0", name=FAILURE_COUNT)
    ignored_failure_count: str = msgspec.field(default="0", name=IGNORED_FAILURE_COUNT)
    deletion_cost: str = msgspec.field(default="0", name=DELETION_COST)


NO_ANNOTATIONS = PodAnnotations()


class PodMeta(msgspec.Struct, rename="camel"):
    labels: dict[str, str] = {}
    annotations: PodAnnotations = NO_ANNOTATIONS
    owner_references: list[OwnerReference] = []
    finalizers: list[str] = []
    creation_timestamp: str = ""
    deletion_timestamp: str | None = None


class ContainerStatus(msgspec.Struct, rename="camel"):
    restart_count: int = 0


class PodStatus(msgspec.Struct, rename="camel"):
    phase: str = "Pending"
    conditions: list[Condition] = []
    container_statuses: list[ContainerStatus] = []


class PodFields(msgspec.Struct):
    metadata: PodMeta


class PodRow(msgspec.Struct, frozen=True, gc=False):
    """The fields of a pod that controllers read."""

    namespace: str
    name: str
    uid: str
    labels: Mapping[str, str]
    """Shared between pods; not to be changed."""
    annotations: PodAnnotations
    owner: OwnerReference | None
    finalizers: tuple[str, ...]
    node: str
    phase: str
    ready_since: int | None
    created: int
    restarts: int
    is_deleting: bool

    @property
    def is_active(self) -> bool:
        return self.phase not in ("Succeeded", "Failed") and not self.is_deleting

    @property
    def is_settled(self) -> bool:
        """Whether the pod has ended and has no finalizer left to wait for."""
        return self.phase in ("Succeeded", "Failed") and not self.finalizers

    @property
    def is_terminating(self) -> bool:
        return self.phase not in ("Succeeded", "Failed") and self.is_deleting

    @property
    def is_ready(self) -> bool:
        return self.ready_since is not None

    @property
    def deletion_cost(self) -> int:
        text = self.annotations.deletion_cost
        return int_of(text)

    def is_available(self, now: int, min_ready: int) -> bool:
        """Ready for at least `min_ready` microseconds."""
        return self.ready_since is not None and (min_ready == 0 or self.ready_since + min_ready <= now)


class _Shared(msgspec.Struct, frozen=True, gc=False):
    """What a row has but for the pod's own fields."""

    labels: Mapping[str, str]
    annotations: PodAnnotations
    owner: OwnerReference | None
    finalizers: tuple[str, ...]
    created: int
    is_deleting: bool

    @classmethod
    def of(cls, pod: PodFields) -> "_Shared":
        meta = pod.metadata
        return cls(
            labels=meta.labels,
            annotations=meta.annotations if meta.annotations != NO_ANNOTATIONS else NO_ANNOTATIONS,
            owner=next((owner for owner in meta.owner_references if owner.controller), None),
            finalizers=tuple(meta.finalizers),
            created=parse_time(meta.creation_timestamp),
            is_deleting=meta.deletion_timestamp is not None,
        )


def _summary(status: PodStatus) -> tuple[str, bool, int | None, int]:
    """Phase, whether it is ready, since when if that is said, and restarts of a pod with this status."""
    restarts = max([container.restart_count for container in status.container_statuses], default=0)
    for condition in status.conditions:
        if condition.type == "Ready":
            when = condition.last_transition_time
            return status.phase, condition.status == "True", parse_time(when) if when else None, restarts
    return status.phase, False, None, restarts


_POD = View(PodFields, _Shared.of)
_STATUS = StatusView(PodStatus, _summary)


def read_pod(stored: Stored, old: PodRow | None = None) -> PodRow:
    """The row of a stored pod; it keeps the labels of the old row, which many pods share, while they are equal."""
    pod = _POD.read(stored)
    labels = old.labels if old is not None and old.labels == pod.labels else pod.labels
    uid = old.uid if old is not None and old.uid == stored.uid else stored.uid
    phase, is_ready, since, restarts = _STATUS.read(stored)
    ready_since = (since if since is not None else pod.created) if is_ready else None
    return PodRow(
        stored.namespace, stored.name, uid, labels, pod.annotations, pod.owner, pod.finalizers,
        stored.node_name, phase, ready_since, pod.created, restarts, pod.is_deleting,
    )  # fmt: skip


def read_status(old: PodRow, stored: Stored) -> PodRow:
    """The row of a pod of which only the status was written: the old one where that makes no difference."""
    phase, is_ready, since, restarts = _STATUS.read(stored)
    ready_since = (since if since is not None else old.created) if is_ready else None
    if phase == old.phase and ready_since == old.ready_since and restarts == old.restarts:
        return old
    return msgspec.structs.replace(old, phase=phase, ready_since=ready_since, restarts=restarts)


def read_node(old: PodRow, stored: Stored) -> PodRow:
    """The row of a pod that was bound: neither its phase nor its readiness changes with that."""
    return msgspec.structs.replace(old, node=stored.node_name)


READERS = {"status": read_status, "binding": read_node}
"""How to read a write through one of these subresources, if it left the metadata unchanged."""


def same_metadata(change: Change) -> bool:
    """Whether all metadata after the resourceVersion are the same: documents have their parts in one order."""
    if change.previous is None:
        return False
    if change.stored.differs_only_in_status_or_node(change.previous):
        return True
    new, old = change.stored.data, change.previous.data
    start = new.find(METADATA)
    end = new.find(SPEC, start)
    return 0 <= start < end and old.startswith(new[start : end + len(SPEC)], old.find(METADATA))


def matters(old: PodRow, new: PodRow) -> bool:
    """Whether a change matters to an owner; a change of the node does not."""
    return (
        old.phase != new.phase
        or old.ready_since != new.ready_since
        or old.is_deleting != new.is_deleting
        or old.labels != new.labels
        or old.owner != new.owner
        or old.finalizers != new.finalizers
        or old.restarts != new.restarts
    )
