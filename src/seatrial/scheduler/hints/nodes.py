"""Hints of plugins that look at nodes alone, and of those that gate pods.

Upstream: isSchedulableAfter… of the plugins schedulinggates, nodeunschedulable, nodename, tainttoleration,
nodeaffinity, nodeports and nodedeclaredfeatures (v1.36.3).
"""

from collections.abc import Sequence

from seatrial.model.documents import Document
from seatrial.scheduler.config.gates import COMPARISON_OPERATORS
from seatrial.scheduler.extension import Action, Plugin, Requeue
from seatrial.scheduler.node import NodeInfo
from seatrial.scheduler.pods import PodInfo
from seatrial.scheduler.terms import Taint
from seatrial.scheduler.volumes.node_terms import selects

_CORDON = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")
_ANY_ADDRESS = "0.0.0.0"


def gates_eliminated(_: Plugin, pod: PodInfo, __: PodInfo | None, new: PodInfo) -> bool:
    return new.uid == pod.uid


def uncordoned(_: Plugin, __: PodInfo, old: NodeInfo | None, new: NodeInfo) -> bool:
    return not new.unschedulable and (old is None or old.unschedulable)


def tolerates_cordon(plugin: Plugin, pod: PodInfo, _: PodInfo | None, new: PodInfo) -> bool:
    return new.uid == pod.uid and _tolerates(plugin, new, _CORDON)


def taints_tolerated(plugin: Plugin, pod: PodInfo, old: NodeInfo | None, new: NodeInfo) -> bool:
    return (old is None or _is_untolerated(plugin, pod, old)) and not _is_untolerated(plugin, pod, new)


def own_toleration_changed(_: Plugin, pod: PodInfo, __: PodInfo | None, new: PodInfo) -> bool:
    return new.uid == pod.uid


def affinity_matches(plugin: Plugin, pod: PodInfo, old: NodeInfo | None, new: NodeInfo) -> bool:
    added = (plugin.args.get("addedAffinity") or {}).get("requiredDuringSchedulingIgnoredDuringExecution")
    if added is not None and not selects(added, new):
        return False
    return required_affinity_matches(pod, new) and (old is None or not required_affinity_matches(pod, old))


def port_released(_: Plugin, pod: PodInfo, old: PodInfo, __: None) -> bool:
    if not old.node and not old.nominated_node:
        return False
    return any(
        protocol == other and port == number and (address == there or _ANY_ADDRESS in (address, there))
        for protocol, address, port in pod.shape.host_ports
        for other, there, number in old.shape.host_ports
    )


def features_declared(_: Plugin, __: PodInfo, old: NodeInfo | None, new: NodeInfo) -> bool:
    return old is None or old.declared_features != new.declared_features


def features_no_longer_needed(_: Plugin, pod: PodInfo, old: PodInfo | None, new: PodInfo) -> bool:
    return new.uid == pod.uid and (old is None or _features(old.spec) != _features(new.spec))


def required_affinity_matches(pod: PodInfo, node: NodeInfo) -> bool:
    """Whether a node satisfies nodeSelector and required node affinity."""
    wanted = pod.spec.get("nodeSelector") or {}
    if any(node.labels.get(key) != value for key, value in wanted.items()):
        return False
    return selects(pod.shape.node_affinity.get("requiredDuringSchedulingIgnoredDuringExecution"), node)


def _is_untolerated(plugin: Plugin, pod: PodInfo, node: NodeInfo) -> bool:
    return any(t.effect in ("NoSchedule", "NoExecute") and not _tolerates(plugin, pod, t) for t in node.taints)


def _tolerates(plugin: Plugin, pod: PodInfo, taint: Taint) -> bool:
    compares = bool(plugin.handle and plugin.handle.gates.get(COMPARISON_OPERATORS))
    return any(toleration.tolerates(taint, compares) for toleration in pod.shape.tolerations)


def _features(spec: Document) -> tuple[bool, bool]:
    """Whether the pod restarts all containers, and whether it has user namespaces in the host's network."""
    containers = (*(spec.get("containers") or ()), *(spec.get("initContainers") or ()))
    rules = (rule for container in containers for rule in container.get("restartPolicyRules") or ())
    return any(rule.get("action") == "RestartAllContainers" for rule in rules), bool(
        spec.get("hostNetwork") and spec.get("hostUsers") is False
    )


SCHEDULING_GATES: Sequence[Requeue] = (Requeue("Pod", Action.UPDATE_POD_GATES_ELIMINATED, gates_eliminated),)
NODE_UNSCHEDULABLE: Sequence[Requeue] = (
    Requeue("Node", Action.ADD | Action.UPDATE_NODE_TAINT, uncordoned),
    Requeue("Pod", Action.UPDATE_POD_TOLERATION, tolerates_cordon),
)
NODE_NAME: Sequence[Requeue] = (Requeue("Node", Action.ADD),)
TAINT_TOLERATION: Sequence[Requeue] = (
    Requeue("Node", Action.ADD | Action.UPDATE_NODE_TAINT, taints_tolerated),
    Requeue("Pod", Action.UPDATE_POD_TOLERATION, own_toleration_changed),
)
NODE_AFFINITY: Sequence[Requeue] = (Requeue("Node", Action.ADD | Action.UPDATE_NODE_LABEL, affinity_matches),)
NODE_PORTS: Sequence[Requeue] = (Requeue("Pod", Action.DELETE, port_released), Requeue("Node", Action.ADD))
NODE_DECLARED_FEATURES: Sequence[Requeue] = (
    Requeue("Node", Action.ADD | Action.UPDATE_NODE_DECLARED_FEATURE, features_declared),
    Requeue("Pod", Action.UPDATE, features_no_longer_needed),
)
