"""A pod as the scheduler sees it: one small row per pod, and one shape for all pods of equal spec.

Ten thousand pods of a Deployment differ in name and uid only. What matters for scheduling (namespace, labels, spec,
controller) is parsed once into a `PodShape`, shared by all of them and dropped with the last; the shape's identity is
what filter and score columns are cached by. A `PodInfo` is never changed: a changed pod is a new PodInfo.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

import msgspec
import orjson

from seatrial.model.documents import Document, decode
from seatrial.model.times import parse_time
from seatrial.scheduler.requests import Requests, requests_of, uses_status
from seatrial.scheduler.terms import AffinityTerms, HostPort, Owner, Toleration, affinity_terms, host_ports, owner_of

DEFAULT_SCHEDULER = "default-scheduler"
NO_LABELS: Mapping[str, str] = {}
NOTHING: Mapping[str, Any] = {}
VALUES_SHARED = 4096
"""How many values of annotations are remembered, so that pods of one template share theirs."""
LONGEST_KEPT = 4096
"""Bytes of annotations beyond which they are not kept beside the encoded pod."""
STATUS_FIELDS = ("resourceClaimStatuses", "extendedResourceClaimStatus", "nodeAllocatableResourceClaimStatuses")


class PodShape:
    """The scheduling-relevant part of pods: namespace, labels, spec without nodeName, and the controller."""

    def __init__(self, namespace: str, labels: Mapping[str, str], spec: Document, owner: Owner | None) -> None:
        self.namespace = namespace
        self.labels = labels
        self.spec = spec
        self.owner = owner
        self.priority: int = spec.get("priority") or 0
        self.scheduler_name: str = spec.get("schedulerName") or DEFAULT_SCHEDULER
        self.notes: dict[Any, Any] = {}
        """What plugins remember about the shape, keyed by plugin; never anything that depends on other objects
        without their version in the value."""

    @cached_property
    def requests(self) -> Requests:
        """What the pod asks for by its spec alone."""
        return requests_of(self.spec, None)

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
    def never_preempts(self) -> bool:
        return self.spec.get("preemptionPolicy") == "Never"


@dataclass(frozen=True, slots=True, eq=False)
class PodInfo:
    """One pod. Times are instants in microseconds; `node` is empty while it is not bound."""

    namespace: str
    name: str
    uid: str
    shape: PodShape
    requests: Requests
    node: str = ""
    nominated_node: str = ""
    start_time: int | None = None
    created: int = 0
    deleting: bool = False
    phase: str = ""
    annotations: Mapping[str, str] = field(default_factory=lambda: NO_LABELS)
    is_preempted: bool = False
    """Marked as the victim of a preemption."""
    status: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    """Status fields that plugins read: resourceClaimStatuses and the like."""

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"

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

    def on(self, node: str) -> "PodInfo":
        """The same pod, assumed or bound to a node."""
        return PodInfo(
            self.namespace,
            self.name,
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
        )


def replace_pod(pod: PodInfo, **changes: Any) -> PodInfo:
    """A copy of a pod with some fields changed."""
    values = {name: getattr(pod, name) for name in PodInfo.__slots__}
    return PodInfo(**(values | changes))


NULL = msgspec.Raw(b"null")


class _Metadata(msgspec.Struct, rename="camel"):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    labels: msgspec.Raw = NULL
    annotations: msgspec.Raw = NULL
    owner_references: msgspec.Raw = NULL


class _Pod(msgspec.Struct):
    metadata: _Metadata
    spec: msgspec.Raw
    status: dict[str, Any] | None = None


class _LabelMetadata(msgspec.Struct):
    labels: dict[str, str] | None = None


class _Labelled(msgspec.Struct):
    metadata: _LabelMetadata


class PodReader:
    """Reads pods, and knows the shapes that are in use."""

    def __init__(self) -> None:
        self._shapes: WeakValueDictionary[bytes, PodShape] = WeakValueDictionary()
        self._texts: WeakValueDictionary[tuple[str, bytes, bytes, bytes], PodShape] = WeakValueDictionary()
        self._decoder = msgspec.json.Decoder(_Pod)
        self._labels = msgspec.json.Decoder(_Labelled)
        self._relabelled: WeakKeyDictionary[PodShape, dict[tuple[tuple[str, str], ...], PodShape]] = WeakKeyDictionary()
        """What shapes become with other labels: pods take over the zone of their node, and there are few zones."""

    def read(self, document: Document) -> PodInfo:
        """The pod a document describes."""
        metadata = document.get("metadata") or {}
        namespace = metadata.get("namespace") or "default"
        spec = document.get("spec") or {}
        shape = self._shape(namespace, metadata.get("labels"), spec, owner_of(metadata.get("ownerReferences")))
        return _pod_info(metadata, namespace, shape, spec.get("nodeName") or "", document.get("status") or {})

    def decode(self, data: bytes) -> PodInfo:
        """The pod in encoded JSON; its spec is parsed only where the shape is not known yet."""
        pod = self._decoder.decode(data)
        metadata = pod.metadata
        text = (metadata.namespace, bytes(metadata.labels), bytes(pod.spec), bytes(metadata.owner_references))
        shape, node = self._texts.get(text), ""
        if shape is None:
            spec = decode(text[2])
            node = spec.get("nodeName") or ""
            shape = self._shape(metadata.namespace or "default", decode(text[1]), spec, owner_of(decode(text[3])))
            if not node:
                self._texts[text] = shape
        fields = {
            "name": metadata.name,
            "uid": metadata.uid,
            "creationTimestamp": metadata.creation_timestamp,
            "deletionTimestamp": metadata.deletion_timestamp,
            "annotations": _annotations(bytes(metadata.annotations), data),
        }
        return _pod_info(fields, metadata.namespace or "default", shape, node, pod.status or {})

    def relabelled(self, pod: PodInfo, data: bytes) -> PodInfo:
        """The pod with the labels of its encoded form; the same one where they are its own."""
        labels = self._labels.decode(data).metadata.labels or NO_LABELS
        if labels == pod.labels:
            return pod
        known = self._relabelled.setdefault(pod.shape, {})
        key = tuple(sorted(labels.items()))
        shape = known.get(key)
        if shape is None:
            shape = known[key] = self._shape(pod.namespace, labels, pod.shape.spec, pod.shape.owner)
        return replace_pod(pod, shape=shape)

    def _shape(self, namespace: str, labels: Any, spec: Document, owner: Owner | None) -> PodShape:
        if "nodeName" in spec:
            spec = {name: value for name, value in spec.items() if name != "nodeName"}
        parts = [namespace, labels or None, spec, owner and [owner.api_version, owner.kind, owner.name, owner.uid]]
        key = orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)
        shape = self._shapes.get(key)
        if shape is None:
            shape = self._shapes[key] = PodShape(namespace, labels or NO_LABELS, spec, owner)
        return shape


@lru_cache(VALUES_SHARED)
def _known(text: str) -> str:
    """The first of equal texts."""
    return text


class LateAnnotations(Mapping[str, str]):
    """Annotations that are too large to be kept twice: they are read from the encoded pod, which the store keeps."""

    __slots__ = ("_data",)

    def __init__(self, data: bytes) -> None:
        self._data = data

    def __getitem__(self, key: str) -> str:
        return self._read()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())

    def _read(self) -> dict[str, str]:
        annotations: dict[str, str] = decode(self._data)["metadata"]["annotations"]
        return annotations


def _annotations(encoded: bytes, data: bytes) -> Mapping[str, str] | None:
    """The annotations of an encoded pod, with texts that other pods have too."""
    if len(encoded) > LONGEST_KEPT:
        return LateAnnotations(data)
    annotations: dict[str, str] = decode(encoded) or {}
    return {_known(key): _known(value) for key, value in annotations.items()} or None


def _pod_info(metadata: Document, namespace: str, shape: PodShape, node: str, status: Document) -> PodInfo:
    created, started = metadata.get("creationTimestamp"), status.get("startTime")
    return PodInfo(
        namespace,
        metadata.get("name") or "",
        metadata.get("uid") or "",
        shape,
        requests_of(shape.spec, status) if uses_status(status) else shape.requests,
        node,
        status.get("nominatedNodeName") or "",
        parse_time(started) if started else None,
        parse_time(created) if created else 0,
        metadata.get("deletionTimestamp") is not None,
        status.get("phase") or "",
        metadata.get("annotations") or NO_LABELS,
        _is_preempted(status),
        {name: status[name] for name in STATUS_FIELDS if status.get(name)} or NOTHING,
    )


def _is_preempted(status: Document) -> bool:
    for condition in status.get("conditions") or ():
        if condition.get("type") == "DisruptionTarget":
            return bool(condition.get("status") == "True" and condition.get("reason") == "PreemptionByScheduler")
    return False
