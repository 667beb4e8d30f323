"""Queueing hints of the in-tree plugins: which events may help a pod they rejected, and whether one does.

A hint gets (plugin, pod, old, new): pods are PodInfo, nodes NodeInfo, everything else documents; old is None for an
add, new for a delete.
"""

from collections.abc import Mapping, Sequence

from seatrial.scheduler.extension import Plugin, Requeue, default_requeues
from seatrial.scheduler.hints import (
    dynamic_resources,
    inter_pod_affinity,
    nodes,
    pod_topology_spread,
    resources,
    volumes,
)

IN_TREE: Mapping[str, Sequence[Requeue]] = {
    "SchedulingGates": nodes.SCHEDULING_GATES,
    "NodeUnschedulable": nodes.NODE_UNSCHEDULABLE,
    "NodeName": nodes.NODE_NAME,
    "TaintToleration": nodes.TAINT_TOLERATION,
    "NodeAffinity": nodes.NODE_AFFINITY,
    "NodePorts": nodes.NODE_PORTS,
    "NodeDeclaredFeatures": nodes.NODE_DECLARED_FEATURES,
    "NodeResourcesFit": resources.NODE_RESOURCES_FIT,
    "VolumeRestrictions": volumes.VOLUME_RESTRICTIONS,
    "NodeVolumeLimits": volumes.NODE_VOLUME_LIMITS,
    "VolumeBinding": volumes.VOLUME_BINDING,
    "VolumeZone": volumes.VOLUME_ZONE,
    "PodTopologySpread": pod_topology_spread.POD_TOPOLOGY_SPREAD,
    "InterPodAffinity": inter_pod_affinity.INTER_POD_AFFINITY,
    "DynamicResources": dynamic_resources.DYNAMIC_RESOURCES,
    "DefaultPreemption": default_requeues(),
}
"""DefaultPreemption has a PreEnqueue and registers nothing, hence everything."""


def requeues_of(plugin: Plugin, points: Sequence[str]) -> Sequence[Requeue]:
    """The events a plugin registers; one that cannot reject pods registers none, one that does not say any."""
    if not set(points) & {"preEnqueue", "preFilter", "filter", "reserve", "permit"}:
        return ()
    known = IN_TREE.get(plugin.name)
    if known is not None:
        return known
    return plugin.events(plugin.handle.gates if plugin.handle else {}) or default_requeues()
