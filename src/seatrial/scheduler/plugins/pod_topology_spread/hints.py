"""Hints of PodTopologySpread. Upstream: plugins/podtopologyspread/plugin.go."""

from typing import TYPE_CHECKING

from seatrial.scheduler.cache.node_info import NodeInfo
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.framework.interface import Action, Requeue
from seatrial.scheduler.plugins.pod_topology_spread.constraints import Constraint

if TYPE_CHECKING:
    from seatrial.scheduler.plugins.pod_topology_spread.plugin import PodTopologySpread


def pod_changed(plugin: "PodTopologySpread", pod: PodInfo, old: PodInfo | None, new: PodInfo | None) -> bool:
    sees_nominated = plugin.rules.hints_see_both_sides
    if not _is_involved(new, pod, sees_nominated) or not _is_involved(old, pod, sees_nominated):
        return False
    constraints = _constraints(plugin, pod)
    if old is not None and new is not None:
        if (
            pod.uid == new.uid
            and old.spec.get("tolerations") != new.spec.get("tolerations")
            and any(constraint.honors_taints for constraint in constraints)
        ):
            return True
        return old.labels != new.labels and any(
            c.selector.matches(old.labels) != c.selector.matches(new.labels) for c in constraints
        )
    present = new if new is not None else old
    return present is not None and any(c.selector.matches(present.labels) for c in constraints)


def node_changed(plugin: "PodTopologySpread", pod: PodInfo, old: NodeInfo | None, new: NodeInfo | None) -> bool:
    constraints = _constraints(plugin, pod)
    was = old is not None and all(c.key in old.labels for c in constraints)
    is_ = new is not None and all(c.key in new.labels for c in constraints)
    if old is None or new is None:
        return was or is_
    if was != is_:
        return True
    moved = any(old.labels.get(c.key) != new.labels.get(c.key) for c in constraints)
    return is_ and (moved or old.taints != new.taints)


def _is_involved(other: PodInfo | None, pod: PodInfo, sees_nominated: bool) -> bool:
    if other is None or other.uid == pod.uid:
        return True
    return bool(other.node or (sees_nominated and other.nominated_node)) and other.namespace == pod.namespace


def _constraints(plugin: "PodTopologySpread", pod: PodInfo) -> tuple[Constraint, ...]:
    """The DoNotSchedule constraints of a pod; the plugin's default ones if the pod has no constraints."""
    return plugin.constraints(pod, "DoNotSchedule")


HINTS: tuple[Requeue, ...] = (
    Requeue(
        "Pod",
        Action.ADD | Action.UPDATE_POD_LABEL | Action.UPDATE_POD_TOLERATION | Action.DELETE,
        pod_changed,
    ),
    Requeue(
        "Node",
        Action.ADD | Action.DELETE | Action.UPDATE_NODE_LABEL | Action.UPDATE_NODE_TAINT,
        node_changed,
    ),
)
