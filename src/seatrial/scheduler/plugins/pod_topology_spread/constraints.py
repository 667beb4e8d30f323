"""Topology spread constraints as a plugin uses them, and which nodes count for each.

Upstream: pkg/scheduler/framework/plugins/podtopologyspread/common.go, plugins/helper/spread.go (v1.36).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from seatrial.model.documents import Document
from seatrial.model.label_selectors import LabelSelector, SelectorError
from seatrial.scheduler.cache.label_selectors import Selector
from seatrial.scheduler.cache.node_info import NodeInfo
from seatrial.scheduler.cache.node_selectors import required_nodes
from seatrial.scheduler.cache.node_table import Mask, Nodes
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.cache.pod_terms import PodMatcher
from seatrial.scheduler.framework.cluster import ObjectLister
from seatrial.scheduler.plugins.taint_toleration import has_untolerated

HOSTNAME = "kubernetes.io/hostname"
HONOR = "Honor"
_CONTROLLERS = (("v1", "ReplicationController"), ("apps/v1", "ReplicaSet"), ("apps/v1", "StatefulSet"))
"""Those whose selectors say which pods belong together."""
_EMPTY = Selector(LabelSelector.from_labels({}))


@dataclass(frozen=True, slots=True)
class Constraint:
    """One constraint of a pod."""

    max_skew: int
    key: str
    selector: Selector
    min_domains: int
    honors_affinity: bool
    honors_taints: bool

    def matcher(self, namespace: str) -> PodMatcher | None:
        """The pods that are counted; an empty selector counts none."""
        return None if self.selector.is_empty else PodMatcher.of(namespace, self.selector)

    def includes(self, pod: PodInfo, node: NodeInfo, numbers: bool) -> bool:
        """Whether a node counts for the constraint."""
        if self.honors_affinity and not required_nodes(pod.shape).matches(node):
            return False
        return not (self.honors_taints and has_untolerated(node.taints, pod.shape.tolerations, numbers))

    def takes_any_node(self, pod: PodInfo) -> bool:
        """Whether all nodes count, whatever their labels and taints."""
        return not self.honors_taints and (not self.honors_affinity or required_nodes(pod.shape).is_trivial)

    def included(self, pod: PodInfo, nodes: Nodes, numbers: bool) -> Mask:
        """Which nodes count for the constraint."""
        mask = np.ones(len(nodes), np.bool_)
        required = required_nodes(pod.shape)
        if self.honors_affinity and not required.is_trivial:
            mask &= required.mask(nodes)
        if self.honors_taints:
            bad = [has_untolerated(taints, pod.shape.tolerations, numbers) for taints in nodes.taint_sets]
            mask &= ~np.asarray(bad, np.bool_)[nodes.taint_set]
        return mask


def read_constraints(
    documents: Sequence[Document], pod: PodInfo, action: str, *, merges_keys: bool = True
) -> tuple[Constraint, ...]:
    """The constraints with one answer to being unsatisfiable, matchLabelKeys merged into their selectors if asked."""
    return tuple(_read(entry, pod, merges_keys) for entry in documents if entry.get("whenUnsatisfiable") == action)


def _read(entry: Document, pod: PodInfo, merges_keys: bool) -> Constraint:
    selector = Selector.read(entry.get("labelSelector"))
    keys = (entry.get("matchLabelKeys") or ()) if merges_keys else ()
    merged = {key: pod.labels[key] for key in keys if key in pod.labels}
    if merged:
        selector = Selector(LabelSelector.from_labels(merged) & selector.selector)
    return Constraint(
        entry.get("maxSkew", 0),
        entry.get("topologyKey", ""),
        selector,
        1 if entry.get("minDomains") is None else entry["minDomains"],
        (entry.get("nodeAffinityPolicy") or HONOR) == HONOR,
        entry.get("nodeTaintsPolicy") == HONOR,
    )


def default_selector(pod: PodInfo, cluster: ObjectLister) -> Selector:
    """The pods that belong together with a pod: those of its services and of its controller."""
    labels: dict[str, str] = {}
    for service in cluster.list("Service", pod.namespace):
        wanted = (service.get("spec") or {}).get("selector")
        if wanted is not None and LabelSelector.from_labels(wanted).matches(pod.labels):
            labels |= wanted
    owner = pod.shape.owner
    kind = (owner.api_version, owner.kind) if owner is not None else ("", "")
    if owner is None or kind not in _CONTROLLERS:
        return Selector(LabelSelector.from_labels(labels)) if labels else _EMPTY
    if kind == ("v1", "ReplicationController"):
        controller = cluster.get(owner.kind, owner.name, pod.namespace)
        if controller is not None:
            labels |= (controller.get("spec") or {}).get("selector") or {}
    selector = LabelSelector.from_labels(labels)
    if kind in (("apps/v1", "ReplicaSet"), ("apps/v1", "StatefulSet")):
        controller = cluster.get(owner.kind, owner.name, pod.namespace)
        wanted = (controller.get("spec") or {}).get("selector") if controller is not None else None
        if wanted is not None:
            try:
                selector = selector & LabelSelector.from_document(wanted)
            except SelectorError:
                return Selector(selector)
    return Selector(selector)
