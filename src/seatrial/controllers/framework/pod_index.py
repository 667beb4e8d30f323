"""An index of pods for controllers: one small row per pod, and running counts for each owner.

Owners with thousands of pods are synced after every bind; counting their pods each time would make a run quadratic, so
the counts move with each change instead.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

import msgspec

from seatrial.model.label_selectors import LabelSelector
from seatrial.model.times import parse_time
from seatrial.store import Change, Store, Stored
from seatrial.store.registry import encoded_status

Labels = frozenset[tuple[str, str]]
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
_alike: dict[int, "PodRow"] = {}
"""By likeness: the row of a pod."""
_labels = lru_cache(LABELS_SHARED)(msgspec.json.Decoder(dict[str, str]).decode)


class PodRow(msgspec.Struct, frozen=True, gc=False):
    """The fields of a pod that controllers read."""

    namespace: str
    name: str
    uid: str
    labels: dict[str, str]
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
        if len(_alike) >= ROWS_SHARED:
            _alike.clear()
        like = _alike[facets.likeness] = _decoded(stored)
    phase, is_ready, since, restarts = _summary(facets.status)
    ready_since = (since if since is not None else like.created) if is_ready else None
    return PodRow(
        stored.namespace, stored.name, facets.uid, like.labels, like.annotations, like.owner, like.finalizers,
        facets.node, phase, ready_since, like.created, restarts, like.is_deleting,
    )  # fmt: skip


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


def _same_metadata(change: Change) -> bool:
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


@dataclass(slots=True)
class OwnedPods:
    """The pods of one owner, in order of arrival, with their counts."""

    rows: dict[tuple[str, str], PodRow] = field(default_factory=dict)
    unsettled: dict[tuple[str, str], PodRow] = field(default_factory=dict)
    restarts: int = 0
    """Restarts of the pods that are pending or running."""
    active: int = 0
    ready: int = 0
    terminating: int = 0
    labels: Counter[Labels] = field(default_factory=Counter)
    untested: dict[Labels, None] = field(default_factory=dict)
    misfits: set[Labels] = field(default_factory=set)
    selector: LabelSelector | None = None
    _inactive: dict[tuple[str, str], PodRow] = field(default_factory=dict)
    _arrivals: dict[tuple[str, str], int] = field(default_factory=dict)
    _next_arrival: int = 0

    def inactive(self) -> list[PodRow]:
        """The unsettled pods that are over or being deleted, in order of arrival: what a Job has to count."""
        return [self._inactive[key] for key in sorted(self._inactive, key=self._arrivals.__getitem__)]

    def add(self, row: PodRow) -> None:
        key = row.namespace, row.name
        self.rows[key] = row
        self._arrivals[key] = self._next_arrival
        self._next_arrival += 1
        self._sort(key, row)
        self._count(row, 1)

    def remove(self, row: PodRow) -> None:
        key = row.namespace, row.name
        del self.rows[key], self._arrivals[key]
        self.unsettled.pop(key, None)
        self._inactive.pop(key, None)
        self._count(row, -1)

    def replace(self, old: PodRow, new: PodRow) -> None:
        key = new.namespace, new.name
        self.rows[key] = new
        self._sort(key, new)
        if old.labels is new.labels and old.is_active and new.is_active:
            self.ready += new.is_ready - old.is_ready
            self.restarts += _restarts_of(new) - _restarts_of(old)
        else:
            self._count(old, -1)
            self._count(new, 1)

    def _sort(self, key: tuple[str, str], row: PodRow) -> None:
        if row.is_settled:
            self.unsettled.pop(key, None)
            self._inactive.pop(key, None)
            return
        self.unsettled[key] = row
        if row.is_active:
            self._inactive.pop(key, None)
        else:
            self._inactive[key] = row

    def active_rows(self) -> list[PodRow]:
        return [row for row in self.rows.values() if row.is_active]

    def available(self, now: int, min_ready: int) -> int:
        if min_ready == 0:
            return self.ready
        return sum(row.is_active and row.is_available(now, min_ready) for row in self.rows.values())

    def labelled(self, labels: dict[str, str]) -> int:
        """How many active pods carry all these labels."""
        wanted = frozenset(labels.items())
        return sum(count for found, count in self.labels.items() if wanted <= found)

    def unlike(self, selector: LabelSelector) -> list[PodRow]:
        """Active pods that the selector does not match; each set of labels is tested once."""
        if selector is not self.selector:
            self.selector = selector
            self.misfits.clear()
            self.untested = dict.fromkeys(self.labels)
        if self.untested:
            self.misfits.update(labels for labels in self.untested if not selector.matches(dict(labels)))
            self.untested.clear()
        if not self.misfits:
            return []
        return [row for row in self.active_rows() if not selector.matches(row.labels)]

    def _count(self, row: PodRow, sign: int) -> None:
        self.restarts += sign * _restarts_of(row)
        if row.is_active:
            self.active += sign
            self.ready += sign * row.is_ready
            labels = frozenset(row.labels.items())
            if labels not in self.labels:
                self.untested[labels] = None
            self.labels[labels] += sign
            if not self.labels[labels]:
                del self.labels[labels]
                self.untested.pop(labels, None)
                self.misfits.discard(labels)
        elif row.is_terminating:
            self.terminating += sign


def _restarts_of(row: PodRow) -> int:
    return row.restarts if row.phase in ("Running", "Pending") else 0


NO_PODS = OwnedPods()
PodListener = Callable[[PodRow | None, PodRow | None], None]


class PodIndex:
    """All pods, by key, by owner and by node; listeners receive (old row, new row) after the index is updated."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._rows: dict[tuple[str, str], PodRow] = {}
        self._owned: dict[str, OwnedPods] = {}
        self._on_node: dict[str, dict[tuple[str, str], PodRow]] = {}
        self._orphans: dict[str, dict[str, PodRow]] = {}
        self._listeners: list[PodListener] = []
        self._placement_listeners: list[PodListener] = []
        self._unsubscribe: Callable[[], None] | None = None
        self._users = 0

    def start(self) -> None:
        """Read what is there and follow it, from the first user on."""
        self._users += 1
        if self._unsubscribe is not None:
            return
        kind = self._store.kinds.served("v1", "Pod")
        for stored in self._store.list(kind):
            self._move(None, read_pod(stored))
        self._unsubscribe = self._store.subscribe(self._changed, [kind])

    def stop(self) -> None:
        """Stop following when the last user has gone."""
        self._users -= 1
        if self._users or self._unsubscribe is None:
            return
        self._unsubscribe()
        self._unsubscribe = None
        self._rows.clear()
        self._owned.clear()
        self._on_node.clear()
        self._orphans.clear()

    def listen(self, listener: PodListener, *, placement: bool = True) -> Callable[[], None]:
        """Call the listener for each change; without `placement` only for changes that matter to owners."""
        lists = [self._listeners, self._placement_listeners] if placement else [self._listeners]
        for listeners in lists:
            listeners.append(listener)

        def stop() -> None:
            for listeners in lists:
                listeners.remove(listener)

        return stop

    def get(self, namespace: str, name: str) -> PodRow | None:
        return self._rows.get((namespace, name))

    def owned_by(self, uid: str) -> OwnedPods:
        return self._owned.get(uid, NO_PODS)

    def on_node(self, node: str) -> list[PodRow]:
        return list(self._on_node.get(node, {}).values())

    def orphans(self, namespace: str) -> list[PodRow]:
        """Pods of a namespace that no controller manages."""
        return list(self._orphans.get(namespace, {}).values())

    def in_namespace(self, namespace: str) -> Iterator[PodRow]:
        return (row for row in list(self._rows.values()) if row.namespace == namespace)

    def __iter__(self) -> Iterator[PodRow]:
        return iter(list(self._rows.values()))

    def _changed(self, change: Change) -> None:
        old = self._rows.get((change.stored.namespace, change.stored.name))
        new: PodRow | None = None
        if change.type != "DELETED":
            read = READERS.get(change.subresource) if old is not None else None
            new = (
                read(old, change.stored)
                if read is not None and old is not None and _same_metadata(change)
                else read_pod(change.stored)
            )
        if new is not old:
            self._move(old, new)
        is_seen = old is None or new is None or (new is not old and matters(old, new))
        for listener in self._listeners if is_seen else self._placement_listeners:
            listener(old, new)

    def _move(self, old: PodRow | None, new: PodRow | None) -> None:
        if old is not None and new is not None and old.owner == new.owner and old.node == new.node:
            self._rows[new.namespace, new.name] = new
            if new.owner is not None:
                self._owned[new.owner.uid].replace(old, new)
            else:
                self._orphans[new.namespace][new.name] = new
            if new.node:
                self._on_node[new.node][new.namespace, new.name] = new
            return
        if old is not None:
            self._take_out(old)
        if new is not None:
            self._put_in(new)

    def _put_in(self, row: PodRow) -> None:
        self._rows[row.namespace, row.name] = row
        if row.owner is not None:
            self._owned.setdefault(row.owner.uid, OwnedPods()).add(row)
        else:
            self._orphans.setdefault(row.namespace, {})[row.name] = row
        if row.node:
            self._on_node.setdefault(row.node, {})[row.namespace, row.name] = row

    def _take_out(self, row: PodRow) -> None:
        del self._rows[row.namespace, row.name]
        if row.owner is not None:
            owned = self._owned[row.owner.uid]
            owned.remove(row)
            if not owned.rows:
                del self._owned[row.owner.uid]
        else:
            del self._orphans[row.namespace][row.name]
        if row.node:
            del self._on_node[row.node][row.namespace, row.name]
