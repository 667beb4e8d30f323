"""Hints of plugins that look at nodes alone, and of those that gate pods.

Upstream: isSchedulableAfter… of the plugins schedulinggates, nodeunschedulable, nodename, tainttoleration,
nodeaffinity and nodeports (v1.36.3).
"""

from collections.abc import Sequence

from seatrial.scheduler.cache.node_info import NodeInfo
from seatrial.scheduler.cache.node_selectors import NodeSelector, required_nodes
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.cache.pod_terms import Taint
from seatrial.scheduler.config.gates import COMPARISON_OPERATORS
from seatrial.scheduler.framework.interface import Action, Plugin, Requeue

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
    if added is not None and not NodeSelector(added.get("nodeSelectorTerms") or ()).matches(new):
        return False
    required = required_nodes(pod.shape)
    return required.matches(new) and (old is None or not required.matches(old))


def port_released(_: Plugin, pod: PodInfo, old: PodInfo, __: None) -> bool:
    if not old.node and not old.nominated_node:
        return False
    return any(
        protocol == other and port == number and (address == there or _ANY_ADDRESS in (address, there))
        for protocol, address, port in pod.shape.host_ports
        for other, there, number in old.shape.host_ports
    )


def _is_untolerated(plugin: Plugin, pod: PodInfo, node: NodeInfo) -> bool:
    return any(t.effect in ("NoSchedule", "NoExecute") and not _tolerates(plugin, pod, t) for t in node.taints)


def _tolerates(plugin: Plugin, pod: PodInfo, taint: Taint) -> bool:
    compares = bool(plugin.handle and plugin.handle.gates.get(COMPARISON_OPERATORS))
    return any(toleration.tolerates(taint, compares) for toleration in pod.shape.tolerations)


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
DEFAULT_PREEMPTION: Sequence[Requeue] = (Requeue("Pod", Action.DELETE, lambda *_: False),)
"""Upstream's hint lets a preemptor go once its victims were told to; here that has happened before anybody asks."""
