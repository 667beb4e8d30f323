"""Decides which nodes run a DaemonSet's pod, and builds the pod spec for a node. Pure.

Upstream: pkg/controller/daemon/daemon_controller.go (NodeShouldRunDaemonPod), util/daemonset_util.go (v1.36).
"""

from typing import Any, NamedTuple

import msgspec

from seatrial.controllers.tainteviction import tolerates
from seatrial.model.documents import Document
from seatrial.model.label_selectors import NodeSelectorTerm
from seatrial.store import Stored

TOLERATED = (
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
)
ON_HOST_NETWORK = ("node.kubernetes.io/network-unavailable", "NoSchedule")
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


class NodeMeta(msgspec.Struct):
    name: str
    labels: dict[str, str] = {}


class NodeSpec(msgspec.Struct):
    taints: list[dict[str, str]] = []


class NodeView(msgspec.Struct):
    """The fields of a node that decide whether it runs a pod."""

    metadata: NodeMeta
    spec: NodeSpec = msgspec.field(default_factory=NodeSpec)


_decoder = msgspec.json.Decoder(NodeView)


def read_node(stored: Stored) -> NodeView:
    return _decoder.decode(stored.data)


class Wish(NamedTuple):
    """Whether a pod should be started on a node, and whether a running one may stay."""

    should_run: bool
    may_stay: bool


NOWHERE = Wish(False, False)


class Placement:
    """Evaluates nodes for one template."""

    def __init__(self, template: Document) -> None:
        self._node_name = template.get("nodeName")
        self._labels: dict[str, str] = template.get("nodeSelector", {})
        required = (template.get("affinity", {}).get("nodeAffinity") or {}).get(REQUIRED)
        self._terms: list[NodeSelectorTerm] | None = None
        if required:
            self._terms = [NodeSelectorTerm(term) for term in required.get("nodeSelectorTerms", [])]
        self._tolerations: list[Document] = [*template.get("tolerations", []), *_tolerations(template)]

    def wish(self, node: NodeView) -> Wish:
        name, labels = node.metadata.name, node.metadata.labels
        if self._node_name not in (None, "", name) or not self._labels.items() <= labels.items():
            return NOWHERE
        if self._terms is not None and not any(term.matches(labels, name) for term in self._terms):
            return NOWHERE
        effects = [
            taint["effect"]
            for taint in node.spec.taints
            if taint["effect"] in ("NoSchedule", "NoExecute")
            and not any(tolerates(toleration, taint) for toleration in self._tolerations)
        ]
        return Wish(not effects, "NoExecute" not in effects)


def spec_for_node(spec: Document, node: str) -> Document:
    """The template's spec, tied to one node by name and tolerant of what nodes go through."""
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    affinity = dict(spec.get("affinity") or {})
    affinity["nodeAffinity"] = dict(affinity.get("nodeAffinity") or {}) | {
        REQUIRED: {"nodeSelectorTerms": [{"matchFields": [field]}]}
    }
    present = spec.get("tolerations", [])
    added = [toleration for toleration in _tolerations(spec) if toleration not in present]
    return spec | {"affinity": affinity, "tolerations": [*present, *added]}


def target_of(pod: Document) -> str:
    """The node that a pod not yet bound was made for."""
    affinity = pod["spec"].get("affinity", {}).get("nodeAffinity", {})
    for term in affinity.get(REQUIRED, {}).get("nodeSelectorTerms", []):
        for field in term.get("matchFields", []):
            if field["key"] == "metadata.name" and field["values"]:
                return str(field["values"][0])
    return ""


def _tolerations(template: Document) -> list[dict[str, Any]]:
    tolerated = [*TOLERATED, *([ON_HOST_NETWORK] if template.get("hostNetwork") else [])]
    return [{"key": key, "operator": "Exists", "effect": effect} for key, effect in tolerated]
