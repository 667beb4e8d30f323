"""The row that controllers keep of a pod: the fields that they read, with what pods share kept once."""

from collections.abc import Mapping
from functools import lru_cache

import msgspec

from seatrial.model.times import parse_time
from seatrial.store import Change, Facets, Memo, Stored
from seatrial.store.registry import encoded_status

DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index"
FAILURE_COUNT = "batch.kubernetes.io/job-index-failure-count"
IGNORED_FAILURE_COUNT = "batch.kubernetes.io/job-index-ignored-failure-count"
LABELS_SHARED = 4096
"""How many different sets of labels are remembered, so that pods of one template share theirs."""
ROWS_SHARED = 1024
METADATA, SPEC = b'"creationTimestamp"', b'"spec":{'
STATUSES_SHARED = 1024
"""How many different statuses are remembered: pods of one template come and go together."""


class OwnerReference(msgspec.Struct, rename="camel", frozen=True):
    kind: str = ""
    name: str = ""
    uid: str = ""
    api_version: str = ""
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class PodAnnotations(msgspec.Struct, frozen=True, gc=False):
    """The annotations that controllers read; a pod may carry a hundred times as much."""

    completion_index: str = msgspec.field(default="", name=COMPLETION_INDEX)
    failure_count: str = msgspec.field(default="0", name=FAILURE_COUNT)
    ignored_failure_count: str = msgspec.field(default="0", name=IGNORED_FAILURE_COUNT)
    deletion_cost: str = msgspec.field(default="0", name=DELETION_COST)


NO_ANNOTATIONS = PodAnnotations()


class PodMeta(msgspec.Struct, rename="camel"):
    uid: str = ""
    labels: msgspec.Raw = msgspec.Raw(b"{}")
    annotations: PodAnnotations = NO_ANNOTATIONS
    owner_references: list[OwnerReference] = []
    finalizers: list[str] = []
    creation_timestamp: str = ""
    deletion_timestamp: str | None = None


class PodSpec(msgspec.Struct, rename="camel"):
    node_name: str = ""


class Condition(msgspec.Struct, rename="camel"):
    type: str = ""
    status: str = ""
    last_transition_time: str | None = None


class ContainerStatus(msgspec.Struct, rename="camel"):
    restart_count: int = 0


class PodStatus(msgspec.Struct, rename="camel"):
    phase: str = "Pending"
    conditions: list[Condition] = []
    container_statuses: list[ContainerStatus] = []


class PodView(msgspec.Struct):
    metadata: PodMeta
    spec: PodSpec
    status: PodStatus = msgspec.field(default_factory=PodStatus)


class SpecView(msgspec.Struct):
    spec: PodSpec


_pod_decoder = msgspec.json.Decoder(PodView)
_spec_decoder = msgspec.json.Decoder(SpecView)
_status_decoder = msgspec.json.Decoder(PodStatus)
_instant = lru_cache(4096)(parse_time)
_alike: Memo[int, "PodRow"] = Memo(ROWS_SHARED)
"""By likeness: the row of a pod."""
_kin: Memo[int, "PodRow"] = Memo(ROWS_SHARED)
"""By template: the row of a pod."""
_labels = lru_cache(LABELS_SHARED)(msgspec.json.Decoder(dict[str, str]).decode)


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
        return int(text) if text.lstrip("+-").isdigit() else 0

    def is_available(self, now: int, min_ready: int) -> bool:
        """Ready for at least `min_ready` microseconds."""
        return self.ready_since is not None and (min_ready == 0 or self.ready_since + min_ready <= now)


def read_pod(stored: Stored) -> PodRow:
    """The row of a stored pod; pods that are alike are decoded once."""
    facets = stored.facets
    if facets is None:
        return _decoded(stored)
    like = _alike.get(facets.likeness)
    if like is None:
        like = _alike[facets.likeness] = _first_alike(stored, facets)
    phase, is_ready, since, restarts = _summary(facets.status)
    ready_since = (since if since is not None else like.created) if is_ready else None
    return PodRow(
        stored.namespace, stored.name, facets.uid, like.labels, like.annotations, like.owner, like.finalizers,
        facets.node, phase, ready_since, like.created, restarts, like.is_deleting,
    )  # fmt: skip


def _first_alike(stored: Stored, facets: Facets) -> PodRow:
    """The row of a pod of a new likeness; pods of one template are decoded once."""
    kin = facets.kin
    if kin is None:
        return _decoded(stored)
    like = _kin.get(kin.number)
    if like is None:
        like = _kin[kin.number] = _decoded(stored)
        return like
    notes = like.annotations
    index = facets.annotation(COMPLETION_INDEX, notes.completion_index)
    if index != notes.completion_index:
        notes = msgspec.structs.replace(notes, completion_index=index)
    return msgspec.structs.replace(
        like,
        labels=facets.labels(like.labels),
        annotations=notes,
        owner=related_owner(facets, like.owner) if like.owner is not None else None,
        created=_instant(facets.values[0]),
    )


def related_owner(facets: Facets, like: OwnerReference) -> OwnerReference:
    """The owner of an object, where another object of the template has this one."""
    own = facets.owner()
    return like if own is None else msgspec.structs.replace(like, name=own[0], uid=own[1])


def _decoded(stored: Stored) -> PodRow:
    pod = _pod_decoder.decode(stored.data)
    meta, status = pod.metadata, pod.status
    created = _instant(meta.creation_timestamp)
    return PodRow(
        namespace=stored.namespace,
        name=stored.name,
        uid=meta.uid,
        labels=_labels(bytes(meta.labels)),
        annotations=meta.annotations if meta.annotations != NO_ANNOTATIONS else NO_ANNOTATIONS,
        owner=next((owner for owner in meta.owner_references if owner.controller), None),
        finalizers=tuple(meta.finalizers),
        node=pod.spec.node_name,
        phase=status.phase,
        ready_since=_ready_since(status, created),
        created=created,
        restarts=_restarts(status),
        is_deleting=meta.deletion_timestamp is not None,
    )


def read_status(old: PodRow, stored: Stored) -> PodRow:
    """The row of a pod of which only the status was written: the old one where that makes no difference."""
    phase, is_ready, since, restarts = _summary(encoded_status(stored) or b"{}")
    ready_since = (since if since is not None else old.created) if is_ready else None
    if phase == old.phase and ready_since == old.ready_since and restarts == old.restarts:
        return old
    return msgspec.structs.replace(old, phase=phase, ready_since=ready_since, restarts=restarts)


def read_node(old: PodRow, stored: Stored) -> PodRow:
    """The row of a pod that was bound: neither its phase nor its readiness changes with that."""
    facets = stored.facets
    node = facets.node if facets is not None else _spec_decoder.decode(stored.data).spec.node_name
    return msgspec.structs.replace(old, node=node)


READERS = {"status": read_status, "binding": read_node}
"""How to read a write through one of these subresources, if it left the metadata unchanged."""


def same_metadata(change: Change) -> bool:
    """Whether all metadata after the resourceVersion are the same: documents have their parts in one order."""
    if change.previous is None:
        return False
    facets, before = change.stored.facets, change.previous.facets
    if facets is not None and before is not None and facets.likeness == before.likeness:
        return True
    new, old = change.stored.data, change.previous.data
    start = new.find(METADATA)
    end = new.find(SPEC, start)
    return 0 <= start < end and old.startswith(new[start : end + len(SPEC)], old.find(METADATA))


@lru_cache(STATUSES_SHARED)
def _summary(status: bytes) -> tuple[str, bool, int | None, int]:
    """Phase, whether it is ready, since when if that is said, and restarts of a pod with this status."""
    seen = _status_decoder.decode(status)
    return seen.phase, *_readiness(seen), _restarts(seen)


def _readiness(status: PodStatus) -> tuple[bool, int | None]:
    for condition in status.conditions:
        if condition.type == "Ready":
            when = condition.last_transition_time
            return condition.status == "True", _instant(when) if when else None
    return False, None


def _ready_since(status: PodStatus, created: int) -> int | None:
    is_ready, since = _readiness(status)
    return (since if since is not None else created) if is_ready else None


def _restarts(status: PodStatus) -> int:
    return max([container.restart_count for container in status.container_statuses], default=0)


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
