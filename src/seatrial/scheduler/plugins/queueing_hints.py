"""Queueing hints: which events may help a pod that a plugin rejected, and whether one does.

Those of the in-tree plugins are here, in the order of the default set; a user's plugin declares its own (`requeue.on`).
A hint gets (plugin, pod, old, new): pods are PodInfo, nodes NodeInfo, everything else documents; old is None for an
add, new for a delete.
"""

from collections.abc import Mapping, Sequence

from seatrial.scheduler.framework.interface import Plugin, Requeue, default_requeues
from seatrial.scheduler.plugins import node_hints as nodes
from seatrial.scheduler.plugins import volume_hints as volumes
from seatrial.scheduler.plugins.dynamic_resources.hints import DYNAMIC_RESOURCES
from seatrial.scheduler.plugins.inter_pod_affinity.hints import INTER_POD_AFFINITY
from seatrial.scheduler.plugins.node_declared_features.hints import NODE_DECLARED_FEATURES
from seatrial.scheduler.plugins.node_resources.hints import NODE_RESOURCES_FIT
from seatrial.scheduler.plugins.pod_topology_spread.hints import POD_TOPOLOGY_SPREAD

IN_TREE: Mapping[str, Sequence[Requeue]] = {
    "SchedulingGates": nodes.SCHEDULING_GATES,
    "NodeUnschedulable": nodes.NODE_UNSCHEDULABLE,
    "NodeName": nodes.NODE_NAME,
    "TaintToleration": nodes.TAINT_TOLERATION,
    "NodeAffinity": nodes.NODE_AFFINITY,
    "NodePorts": nodes.NODE_PORTS,
    "NodeResourcesFit": NODE_RESOURCES_FIT,
    "VolumeRestrictions": volumes.VOLUME_RESTRICTIONS,
    "NodeVolumeLimits": volumes.NODE_VOLUME_LIMITS,
    "VolumeBinding": volumes.VOLUME_BINDING,
    "VolumeZone": volumes.VOLUME_ZONE,
    "PodTopologySpread": POD_TOPOLOGY_SPREAD,
    "InterPodAffinity": INTER_POD_AFFINITY,
    "DynamicResources": DYNAMIC_RESOURCES,
    "DefaultPreemption": nodes.DEFAULT_PREEMPTION,
    "NodeDeclaredFeatures": NODE_DECLARED_FEATURES,
}
_REJECTING_POINTS = frozenset(("preEnqueue", "preFilter", "filter", "reserve", "permit"))


def requeues_of(plugin: Plugin, points: Sequence[str]) -> Sequence[Requeue]:
    """The events a plugin registers; one that cannot reject pods registers none, one that does not say any."""
    if not _REJECTING_POINTS.intersection(points):
        return ()
    known = IN_TREE.get(plugin.name)
    if known is not None:
        return known
    return plugin.events(plugin.handle.gates if plugin.handle else {}) or default_requeues()
