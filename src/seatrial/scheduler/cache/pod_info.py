"""A pod as the scheduler sees it: one small row per pod, and one shape for all pods of equal spec.

Ten thousand pods of a Deployment differ in name and uid only. What matters for scheduling (namespace, labels, spec,
controller) is parsed once into a `PodShape`, shared by all of them and dropped with the last; the shape's identity is
what filter and score columns are cached by. A `PodInfo` is never changed: a changed pod is a new PodInfo.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

import msgspec
import orjson

from seatrial.model.documents import Document, decode, encode
from seatrial.model.times import parse_time
from seatrial.scheduler.cache.pod_requests import Requests, requests_of
from seatrial.scheduler.cache.pod_status_fields import NOTHING, only_status_changed, read_status
from seatrial.scheduler.cache.pod_terms import (
    AffinityTerms,
    HostPort,
    Owner,
    Toleration,
    affinity_terms,
    host_ports,
    owner_of,
)
from seatrial.store import Facets, Memo, Stored

DEFAULT_SCHEDULER = "default-scheduler"
NO_LABELS: Mapping[str, str] = MappingProxyType({})
VALUES_SHARED = 4096
"""How many values of annotations are remembered, so that pods of one template share theirs."""
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


def pod_likeness(stored: Stored, pod: PodInfo) -> int:
    """The likeness of a stored pod that was read as `pod`; 0 where it has none."""
    facets = stored.facets
    return facets.likeness if facets is not None and facets.node == pod.node else 0


NULL = msgspec.Raw(b"null")
_NODE_NAME = b'"nodeName":"'
_PLAIN = re.compile(rb"[a-z0-9.-]+")
"""What a node may be called; nothing in it is escaped."""


class _Metadata(msgspec.Struct, rename="camel"):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    labels: msgspec.Raw = NULL
    annotations: msgspec.Raw = NULL
    owner_references: msgspec.Raw = NULL


class _Pod(msgspec.Struct):
    metadata: _Metadata
    spec: msgspec.Raw = msgspec.Raw(b"{}")
    status: msgspec.Raw = NULL


class _LabelMetadata(msgspec.Struct):
    labels: dict[str, str] | None = None


class _Labelled(msgspec.Struct):
    metadata: _LabelMetadata


class PodReader:
    """Reads pods, and knows the shapes that are in use."""

    def __init__(self, gates_off: frozenset[str] = frozenset()) -> None:
        self._has_pod_level = "PodLevelResources" not in gates_off
        self._has_pod_level_resizes = "InPlacePodLevelResourcesVerticalScaling" not in gates_off
        self._specs: WeakValueDictionary[bytes, PodSpec] = WeakValueDictionary()
        self._shapes: WeakValueDictionary[tuple[str, bytes, bytes, Owner | None], PodShape] = WeakValueDictionary()
        self._texts: WeakValueDictionary[tuple[str, bytes, bytes, bytes], PodShape] = WeakValueDictionary()
        self._decoder = msgspec.json.Decoder(_Pod)
        self._labels = msgspec.json.Decoder(_Labelled)
        self._alike: Memo[int, PodInfo] = Memo(PODS_SHARED)
        """By likeness: a pod."""
        self._kin: Memo[int, PodInfo] = Memo(PODS_SHARED)
        """By template: a pod."""
        self._relabelled: WeakKeyDictionary[PodShape, dict[object, PodShape]] = WeakKeyDictionary()
        """What shapes become with other labels: pods take over the zone of their node, and there are few zones."""

    def read(self, document: Document) -> PodInfo:
        """The pod a document describes."""
        return self.decode(encode(document))

    def of(self, stored: Stored) -> PodInfo:
        """A stored pod; pods that are alike are decoded once."""
        facets = stored.facets
        if facets is None:
            return self.decode(stored.data)
        like = self._alike.get(facets.likeness)
        if like is None:
            like = self._alike[facets.likeness] = self._first_alike(stored.data, facets)
        status = read_status(facets.status)
        if status.changes_requests or type(like.annotations) is LateAnnotations:
            return self.decode(stored.data)
        return PodInfo(
            like.namespace, stored.name, f"{like.namespace}/{stored.name}", facets.uid, like.shape, like.shape.requests,
            facets.node, status.nominated_node, status.start_time, like.created, like.deleting, status.phase,
            like.annotations, status.is_preempted, status.kept, str(stored.revision),
        )  # fmt: skip

    def _first_alike(self, data: bytes, facets: Facets) -> PodInfo:
        """A pod of a new likeness; pods of one template are decoded once."""
        kin = facets.kin
        like = self._kin.get(kin.number) if kin is not None and not kin.has_others else None
        if kin is None or like is None:
            like = self.decode(data)
            if kin is not None:
                self._kin[kin.number] = like
            return like
        if type(like.annotations) is LateAnnotations:
            return self.decode(data)
        owner, own = like.shape.owner, facets.owner()
        if owner is not None and own is not None:
            owner = Owner(owner.api_version, owner.kind, *own)
        return replace_pod(
            like,
            shape=self._shape(like.namespace, facets.labels(like.labels), like.shape.shared, owner),
            created=parse_time(facets.values[0]),
            annotations={**like.annotations, **{key: facets.values[place] for key, place in kin.annotations.items()}},
        )

    def decode(self, data: bytes) -> PodInfo:
        """The pod in encoded JSON; its spec is parsed only where the shape is not known yet."""
        pod = self._decoder.decode(data)
        metadata, status = pod.metadata, read_status(bytes(pod.status))
        spec, node = _without_node(bytes(pod.spec))
        text = (metadata.namespace, bytes(metadata.labels), spec, bytes(metadata.owner_references))
        shape = self._texts.get(text)
        if shape is None:
            parts = decode(text[1]), self._spec(spec), owner_of(decode(text[3]))
            shape = self._texts[text] = self._shape(metadata.namespace or "default", *parts)
        created = metadata.creation_timestamp
        namespace, name = metadata.namespace or "default", metadata.name
        return PodInfo(
            namespace,
            name,
            f"{namespace}/{name}",
            metadata.uid,
            shape,
            requests_of(shape.spec, self._status(bytes(pod.status))) if status.changes_requests else shape.requests,
            node,
            status.nominated_node,
            status.start_time,
            parse_time(created) if created else 0,
            metadata.deletion_timestamp is not None,
            status.phase,
            _annotations(metadata.annotations, data),
            status.is_preempted,
            status.kept,
            metadata.resource_version,
        )

    def with_status(self, pod: PodInfo, stored: Stored, previous: Stored) -> PodInfo | None:
        """The pod with the status of its new encoded form; None where that may differ from `previous` in more."""
        if stored.facets is not None and stored.facets.likeness == pod_likeness(previous, pod):
            encoded: bytes | None = stored.facets.status
        else:
            encoded = only_status_changed(stored.data, stored.revision, previous.data, previous.revision)
        if encoded is None or type(pod.annotations) is LateAnnotations:
            return None
        try:
            status = read_status(encoded)
        except msgspec.DecodeError:
            return None
        return PodInfo(
            pod.namespace,
            pod.name,
            pod.key,
            pod.uid,
            pod.shape,
            requests_of(pod.shape.spec, self._status(encoded)) if status.changes_requests else pod.shape.requests,
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
        known = self._relabelled.setdefault(pod.shape, {})
        likeness = stored.facets.likeness if stored.facets is not None else 0
        shape = known.get(likeness)
        if shape is None:
            labels = self._labels.decode(stored.data).metadata.labels or NO_LABELS
            key = tuple(sorted(labels.items()))
            shape = pod.shape if labels == pod.labels else known.get(key)
            if shape is None:
                shape = known[key] = self._shape(pod.namespace, labels, pod.shape.shared, pod.shape.owner)
            if likeness and shape is not pod.shape:
                known[likeness] = shape
        return pod if shape is pod.shape else replace_pod(pod, shape=shape)

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


def _without_node(spec: bytes) -> tuple[bytes, str]:
    """The encoded spec without nodeName, and nodeName: bound pods of one template then share their text.

    A binding appends the field; where it stands elsewhere, the spec is taken apart.
    """
    if (start := spec.rfind(_NODE_NAME)) < 0:
        return spec, ""
    name, closing = spec[start + len(_NODE_NAME) : -2], spec[-2:]
    if start > 1 and closing == b'"}' and _PLAIN.fullmatch(name):
        return spec[: start - 1] + b"}", name.decode()
    document = decode(spec)
    node = document.pop("nodeName", None) or ""
    return encode(document), node


@lru_cache(VALUES_SHARED)
def _known(text: str) -> str:
    """The first of equal texts."""
    return text


class LateAnnotations(Mapping[str, str]):
    """Annotations that are too large to be kept twice: they are read from the encoded pod, which the store keeps.

    They are known by their type: `isinstance` asks an abstract class in Python, for each write of a pod.
    """

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


def _annotations(encoded: msgspec.Raw, data: bytes) -> Mapping[str, str]:
    """The annotations of an encoded pod, with texts that other pods have too."""
    if encoded is NULL:
        return NO_LABELS
    if len(encoded) > LONGEST_KEPT:
        return LateAnnotations(data)
    annotations: dict[str, str] = decode(bytes(encoded)) or {}
    return {_known(key): _known(value) for key, value in annotations.items()} or NO_LABELS
