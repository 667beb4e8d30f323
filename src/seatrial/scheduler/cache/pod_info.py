"""A pod as the scheduler sees it: one small row per pod, and one shape for all pods of equal spec.

Ten thousand pods of a Deployment differ in name and uid only. What matters for scheduling (namespace, labels, spec,
controller) is parsed once into a `PodShape`, shared by all of them and dropped with the last; the shape's identity is
what filter and score columns are cached by. A `PodInfo` is never changed: a changed pod is a new PodInfo.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from sys import intern
from types import MappingProxyType
from typing import Any
from weakref import WeakValueDictionary

import msgspec
import orjson

from seatrial.model.documents import Document, decode, encode
from seatrial.model.kinds import Kind
from seatrial.model.times import parse_time
from seatrial.scheduler.cache.pod_requests import Requests, requests_of
from seatrial.scheduler.cache.pod_status_fields import (
    NOTHING,
    STATUSES_KEPT,
    PodStatus,
    StatusFields,
    only_status_changed,
)
from seatrial.scheduler.cache.pod_terms import (
    AffinityTerms,
    HostPort,
    Owner,
    Toleration,
    affinity_terms,
    host_ports,
    owner_of,
)
from seatrial.scheduler.versions import DEFAULT, Rules
from seatrial.store import StatusView, Stored, View

DEFAULT_SCHEDULER = "default-scheduler"
NO_LABELS: Mapping[str, str] = MappingProxyType({})
PODS_SHARED = 64
"""Pods that are kept to read others like them; each keeps its shape and the columns of that."""
LONGEST_KEPT = 4096
"""Bytes of annotations beyond which they are not kept with the encoded pod."""


class PodSpec:
    """A spec without nodeName; shapes that differ in labels or owner share it."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.key = orjson.dumps(document, option=orjson.OPT_SORT_KEYS)
        """The same for equal specs, whatever the order of their fields."""
        self.notes: dict[Any, Any] = {}
        """What is remembered about the spec alone, keyed by its user."""

    @cached_property
    def requests(self) -> Requests:
        """What a pod asks for by its spec alone."""
        return requests_of(self.document, None)

    @cached_property
    def row_key(self) -> bytes:
        """The same for specs that differ only in what plugins compare with pods of other nodes."""
        rest = {name: value for name, value in self.document.items() if name != "topologySpreadConstraints"}
        affinity = rest.pop("affinity", None) or {}
        if "nodeAffinity" in affinity:
            rest["affinity"] = {"nodeAffinity": affinity["nodeAffinity"]}
        return orjson.dumps(rest, option=orjson.OPT_SORT_KEYS)


class PodShape:
    """The scheduling-relevant part of pods: namespace, labels, spec without nodeName, and the controller."""

    def __init__(self, namespace: str, labels: Mapping[str, str], shared: PodSpec, owner: Owner | None) -> None:
        self.namespace = namespace
        self.labels = labels
        self.shared = shared
        spec = self.spec = shared.document
        self.owner = owner
        self.priority: int = spec.get("priority") or 0
        self.scheduler_name: str = spec.get("schedulerName") or DEFAULT_SCHEDULER
        self.notes: dict[Any, Any] = {}
        """What plugins remember about the shape, keyed by plugin; never anything that depends on other objects
        without their version in the value."""

    @cached_property
    def requests(self) -> Requests:
        """What the pod asks for by its spec alone."""
        return self.shared.requests

    @cached_property
    def tolerations(self) -> tuple[Toleration, ...]:
        return tuple(Toleration.read(entry) for entry in self.spec.get("tolerations") or ())

    @cached_property
    def affinity(self) -> AffinityTerms:
        """The pod's inter-pod affinity and anti-affinity terms."""
        return affinity_terms(self.namespace, self.spec.get("affinity") or {})

    @cached_property
    def host_ports(self) -> tuple[HostPort, ...]:
        return host_ports(self.spec)

    @cached_property
    def node_affinity(self) -> Document:
        affinity: Document = (self.spec.get("affinity") or {}).get("nodeAffinity") or {}
        return affinity

    @cached_property
    def volumes(self) -> tuple[Document, ...]:
        return tuple(self.spec.get("volumes") or ())

    @cached_property
    def has_own_objects(self) -> bool:
        """Whether each pod of the shape has claims of its own, so that plugins see more of it than the shape."""
        has_ephemeral = any("ephemeral" in volume for volume in self.volumes)
        return has_ephemeral or bool(self.spec.get("resourceClaims"))

    @cached_property
    def never_preempts(self) -> bool:
        return self.spec.get("preemptionPolicy") == "Never"


class PodInfo(msgspec.Struct, frozen=True, eq=False, gc=False):
    """One pod. Times are instants in microseconds; `node` is empty while it is not bound."""

    namespace: str
    name: str
    key: str
    """namespace/name"""
    uid: str
    shape: PodShape
    requests: Requests
    node: str = ""
    nominated_node: str = ""
    start_time: int | None = None
    created: int = 0
    deleting: bool = False
    phase: str = ""
    annotations: Mapping[str, str] = NO_LABELS
    is_preempted: bool = False
    """Marked as the victim of a preemption."""
    status: Mapping[str, Any] = NOTHING
    """Status fields that plugins read: resourceClaimStatuses and the like."""
    resource_version: str = ""
    """Of the pod as it was read; events name it."""

    @property
    def labels(self) -> Mapping[str, str]:
        return self.shape.labels

    @property
    def spec(self) -> Document:
        """The spec, shared by all pods of the shape; not to be changed."""
        return self.shape.spec

    @property
    def priority(self) -> int:
        return self.shape.priority

    @property
    def is_like_others(self) -> bool:
        """Whether in-tree plugins see nothing in the pod but its shape."""
        shape = self.shape
        return not (self.nominated_node or self.status or shape.has_own_objects or self.requests is not shape.requests)

    def on(self, node: str) -> "PodInfo":
        """The same pod, assumed or bound to a node."""
        return PodInfo(
            self.namespace,
            self.name,
            self.key,
            self.uid,
            self.shape,
            self.requests,
            node,
            self.nominated_node,
            self.start_time,
            self.created,
            self.deleting,
            self.phase,
            self.annotations,
            self.is_preempted,
            self.status,
            self.resource_version,
        )


def replace_pod(pod: PodInfo, **changes: Any) -> PodInfo:
    """A copy of a pod with some fields changed."""
    return msgspec.structs.replace(pod, **changes)


NULL = msgspec.Raw(b"null")
_PODS = Kind("", "v1", "Pod", "pods")
NODE_NAME = ("spec", "nodeName")
_NODE_NAME = b'"nodeName":"'
_PLAIN = re.compile(rb"[a-z0-9.-]+")
"""What a node may be called; nothing in it is escaped."""


class _Metadata(msgspec.Struct, rename="camel"):
    namespace: str = ""
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    labels: msgspec.Raw = NULL
    annotations: msgspec.Raw = NULL
    owner_references: msgspec.Raw = NULL


class _Pod(msgspec.Struct):
    metadata: _Metadata
    spec: msgspec.Raw = msgspec.Raw(b"{}")


_STATUS = StatusView(PodStatus, StatusFields.of, kept=STATUSES_KEPT)


class _Shared(msgspec.Struct, frozen=True, eq=False, gc=False):
    """What is read of a pod but for its own fields."""

    namespace: str
    shape: PodShape
    created: int
    deleting: bool
    annotations: Mapping[str, str] | None
    """None where they are too large to be kept twice."""


class PodReader:
    """Reads pods, and knows the shapes that are in use."""

    def __init__(self, gates: Mapping[str, bool] | None = None, rules: Rules = DEFAULT.rules) -> None:
        is_on = (gates or {}).get
        self._sums_first = rules.sums_before_maxima
        self._has_pod_level = is_on("PodLevelResources", True)
        self._has_pod_level_resizes = is_on("InPlacePodLevelResourcesVerticalScaling", True)
        self._specs: WeakValueDictionary[bytes, PodSpec] = WeakValueDictionary()
        self._shapes: WeakValueDictionary[tuple[str, bytes, bytes, Owner | None], PodShape] = WeakValueDictionary()
        self._texts: WeakValueDictionary[tuple[str, bytes, bytes, bytes], PodShape] = WeakValueDictionary()
        self._view = View(_Pod, self._shared, without=(NODE_NAME,), kept=PODS_SHARED)

    def read(self, document: Document) -> PodInfo:
        """The pod a document describes."""
        metadata = document["metadata"]
        revision = int(metadata.get("resourceVersion") or 0)
        return self.of(
            Stored(_PODS, metadata.get("namespace") or "", metadata.get("name") or "", revision, encode(document))
        )

    def _requests(self, shape: PodShape, encoded_status: bytes) -> Requests:
        """What a pod is charged with while its status says otherwise than its spec."""
        return requests_of(shape.spec, self._status(encoded_status), self._sums_first)

    def of(self, stored: Stored) -> PodInfo:
        """A stored pod; its spec is parsed only where the shape is not known yet."""
        pod, status = self._view.read(stored), _STATUS.read(stored)
        namespace, name, shape = pod.namespace, stored.name, pod.shape
        requests = shape.requests
        if status.changes_requests:
            requests = self._requests(shape, stored.encoded_status)
        annotations = pod.annotations if pod.annotations is not None else LateAnnotations(stored)
        return PodInfo(
            namespace, name, f"{namespace}/{name}", stored.uid, shape, requests,
            stored.node_name, status.nominated_node, status.start_time, pod.created, pod.deleting, status.phase,
            annotations, status.is_preempted, status.kept, str(stored.revision),
        )  # fmt: skip

    def _shared(self, pod: _Pod) -> _Shared:
        metadata = pod.metadata
        text = (
            metadata.namespace,
            bytes(metadata.labels),
            _without_node(bytes(pod.spec)),
            bytes(metadata.owner_references),
        )
        shape = self._texts.get(text)
        if shape is None:
            parts = decode(text[1]), self._spec(text[2]), owner_of(decode(text[3]))
            shape = self._texts[text] = self._shape(metadata.namespace or "default", *parts)
        created = metadata.creation_timestamp
        return _Shared(
            metadata.namespace or "default",
            shape,
            parse_time(created) if created else 0,
            metadata.deletion_timestamp is not None,
            _annotations(metadata.annotations),
        )

    def with_status(self, pod: PodInfo, stored: Stored, previous: Stored) -> PodInfo | None:
        """The pod with the status of its new encoded form; None where that may differ from `previous` in more."""
        if type(pod.annotations) is LateAnnotations:
            return None
        if stored.differs_only_in_status_or_node(previous) and previous.node_name == pod.node:
            status, encoded = _STATUS.read(stored), stored.encoded_status
        else:
            changed = only_status_changed(stored.data, stored.revision, previous.data, previous.revision)
            if changed is None:
                return None
            try:
                status, encoded = _STATUS.decode(changed), changed
            except msgspec.DecodeError:
                return None
        return PodInfo(
            pod.namespace,
            pod.name,
            pod.key,
            pod.uid,
            pod.shape,
            self._requests(pod.shape, encoded) if status.changes_requests else pod.shape.requests,
            pod.node,
            status.nominated_node,
            status.start_time,
            pod.created,
            pod.deleting,
            status.phase,
            pod.annotations,
            status.is_preempted,
            status.kept,
            str(stored.revision),
        )

    def relabelled(self, pod: PodInfo, stored: Stored) -> PodInfo:
        """The pod with the labels of its stored form; the same one where they are its own."""
        old, shape = pod.shape, self._view.read(stored).shape
        if shape.shared is not old.shared or shape.owner != old.owner:  # it was changed on its way
            shape = self._shape(pod.namespace, shape.labels, old.shared, old.owner)
        return pod if shape is old else replace_pod(pod, shape=shape)

    def _spec(self, encoded: bytes) -> PodSpec:
        """A spec; without the gate PodLevelResources its resources do not exist."""
        known = self._specs.get(encoded)
        if known is None:
            spec: Document = decode(encoded)
            if not self._has_pod_level:
                spec.pop("resources", None)
            known = self._specs[encoded] = PodSpec(spec)
        return known

    def _status(self, encoded: bytes) -> Document:
        """A status; without the gate for their resizing, resources of the pod as a whole do not count."""
        status: Document = decode(encoded)
        if not self._has_pod_level_resizes:
            status.pop("resources", None)
        return status

    def _shape(self, namespace: str, labels: Any, spec: PodSpec, owner: Owner | None) -> PodShape:
        # In a piece of memory of their size, which orjson does not give back.
        encoded = bytes(memoryview(orjson.dumps(labels or None, option=orjson.OPT_SORT_KEYS)))
        key = (namespace, encoded, spec.key, owner)
        shape = self._shapes.get(key)
        if shape is None:
            shape = self._shapes[key] = PodShape(namespace, labels or NO_LABELS, spec, owner)
        return shape


def _without_node(spec: bytes) -> bytes:
    """The encoded spec without nodeName: bound pods of one template then share their text.

    A binding appends the field; where it stands elsewhere, the spec is taken apart.
    """
    if (start := spec.rfind(_NODE_NAME)) < 0:
        return spec
    name, closing = spec[start + len(_NODE_NAME) : -2], spec[-2:]
    if start > 1 and closing == b'"}' and _PLAIN.fullmatch(name):
        return spec[: start - 1] + b"}"
    document = decode(spec)
    document.pop("nodeName", None)
    return encode(document)


class LateAnnotations(Mapping[str, str]):
    """Annotations that are too large to be kept twice: they are read from the stored pod, which the store may pack.

    They are known by their type: `isinstance` asks an abstract class in Python, for each write of a pod.
    """

    __slots__ = ("_stored",)

    def __init__(self, stored: Stored) -> None:
        self._stored = stored

    def __getitem__(self, key: str) -> str:
        return self._read()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())

    def _read(self) -> dict[str, str]:
        annotations: dict[str, str] = decode(self._stored.data)["metadata"]["annotations"]
        return annotations


def _annotations(encoded: msgspec.Raw) -> Mapping[str, str] | None:
    """The annotations of an encoded pod, with texts that other pods have too; None where they are too large to keep."""
    if encoded is NULL:
        return NO_LABELS
    if len(encoded) > LONGEST_KEPT:
        return None
    annotations: dict[str, str] = decode(bytes(encoded)) or {}
    return {intern(key): intern(value) for key, value in annotations.items()} or NO_LABELS
