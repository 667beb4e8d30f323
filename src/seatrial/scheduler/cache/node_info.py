"""A node as the scheduler sees it: the fields plugins read, and the pods on it.

Upstream: pkg/scheduler/framework/types.go (NodeInfo), component-helpers/node/topology (zone keys).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from seatrial.model.documents import Document
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.cache.pod_requests import PODS, allocatable_of
from seatrial.scheduler.cache.pod_terms import HostPort, Taint
from seatrial.store import StatusView, Stored, View

ANY_ADDRESS = "0.0.0.0"
_ZONES = ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone")
_REGIONS = ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region")


@dataclass(slots=True, eq=False)
class NodeInfo:
    """One node with its pods. `pods` is in upstream's order: a removed pod's place is taken by the last one."""

    name: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    taints: tuple[Taint, ...]
    unschedulable: bool
    allocatable: Mapping[str, int]
    """cpu in thousandths, everything else in units; `pods` is the number of pods allowed."""
    images: tuple[tuple[tuple[str, ...], int], ...]
    """Names and size of each image on the node."""
    declared_features: frozenset[str]
    conditions: Mapping[str, str] = field(default_factory=dict)
    pods: list[PodInfo] = field(default_factory=list)
    ports: set[HostPort] = field(default_factory=set)
    uid: str = ""

    @classmethod
    def read(cls, document: Document) -> "NodeInfo":
        """The node a document describes, without pods."""
        metadata, spec, status = (document.get(part) or {} for part in ("metadata", "spec", "status"))
        return cls(
            metadata.get("name", ""),
            metadata.get("labels") or {},
            metadata.get("annotations") or {},
            _taints(spec.get("taints")),
            bool(spec.get("unschedulable")),
            *_StatusPart.read(status),
            uid=metadata.get("uid") or "",
        )

    @classmethod
    def of(cls, stored: Stored) -> "NodeInfo":
        """The node of a stored object, without pods; nodes share what is equal in them."""
        return cls(stored.name, *_NODE.read(stored), *_STATUS.read(stored), uid=stored.uid)

    def differs_only_in_annotations(self, other: "NodeInfo") -> bool:
        """Whether another state of the node is equal but for annotations."""
        return (
            self.labels == other.labels
            and self.taints == other.taints
            and self.unschedulable == other.unschedulable
            and self.allocatable == other.allocatable
            and self.images == other.images
            and self.declared_features == other.declared_features
            and self.conditions == other.conditions
            and self.uid == other.uid
        )

    @property
    def allowed_pods(self) -> int:
        return self.allocatable.get(PODS, 0)

    @property
    def zone(self) -> str:
        """The key nodes are interleaved by; empty where the node names neither region nor zone."""
        region, zone = _first(self.labels, _REGIONS), _first(self.labels, _ZONES)
        return f"{region}:\0:{zone}" if region or zone else ""

    def add(self, pod: PodInfo) -> None:
        """Puts a pod on the node."""
        self.pods.append(pod)
        self.ports.update(pod.shape.host_ports)

    def remove(self, pod: PodInfo) -> bool:
        """Takes a pod off the node; the last one fills its place. False where it is not there."""
        for place, present in enumerate(self.pods):
            if present.uid == pod.uid:
                self.pods[place] = self.pods[-1]
                del self.pods[-1]
                self.ports.difference_update(present.shape.host_ports)
                return True
        return False

    def changed(self, removed: Sequence[PodInfo], added: Sequence[PodInfo]) -> "NodeInfo":
        """A copy of the node without some pods and with others."""
        copy = self.copy()
        for pod in removed:
            copy.remove(pod)
        for pod in added:
            copy.add(pod)
        return copy

    def copy(self) -> "NodeInfo":
        return NodeInfo(
            self.name,
            self.labels,
            self.annotations,
            self.taints,
            self.unschedulable,
            self.allocatable,
            self.images,
            self.declared_features,
            self.conditions,
            list(self.pods),
            set(self.ports),
            self.uid,
        )


class _StatusPart(NamedTuple):
    """What is read of the status of a node."""

    allocatable: Mapping[str, int]
    images: tuple[tuple[tuple[str, ...], int], ...]
    declared_features: frozenset[str]
    conditions: Mapping[str, str]

    @classmethod
    def read(cls, status: Document) -> "_StatusPart":
        return cls(
            allocatable_of(status.get("allocatable") or {}),
            tuple([_image(entry) for entry in status.get("images") or ()]),
            frozenset(status.get("declaredFeatures") or ()),
            {c.get("type", ""): c.get("status", "") for c in status.get("conditions") or ()},
        )


class _Metadata(msgspec.Struct):
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None


class _Spec(msgspec.Struct):
    taints: list[Document] | None = None
    unschedulable: bool | None = None


class _Node(msgspec.Struct):
    metadata: _Metadata
    spec: _Spec = msgspec.field(default_factory=_Spec)


def _fields(node: _Node) -> tuple[Mapping[str, str], Mapping[str, str], tuple[Taint, ...], bool]:
    """Labels, annotations, taints, and whether the node is cordoned."""
    metadata, spec = node.metadata, node.spec
    return metadata.labels or {}, metadata.annotations or {}, _taints(spec.taints), bool(spec.unschedulable)


_NODE = View(_Node, _fields)
_STATUS = StatusView(dict, _StatusPart.read)


def ports_conflict(wanted: Sequence[HostPort], taken: set[HostPort]) -> bool:
    """Whether one of the ports is taken: 0.0.0.0 stands for every address."""
    for protocol, address, port in wanted:
        if address == ANY_ADDRESS:
            if any(p == port and kind == protocol for kind, _, p in taken):
                return True
        elif (protocol, address, port) in taken or (protocol, ANY_ADDRESS, port) in taken:
            return True
    return False


def _taints(entries: Sequence[Document] | None) -> tuple[Taint, ...]:
    return tuple([Taint.read(entry) for entry in entries or ()])


def _image(entry: Document) -> tuple[tuple[str, ...], int]:
    return tuple(entry.get("names") or ()), int(entry.get("sizeBytes") or 0)


def _first(labels: Mapping[str, str], keys: Sequence[str]) -> str:
    for key in keys:
        if key in labels:
            return labels[key]
    return ""
