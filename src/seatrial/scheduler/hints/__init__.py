"""Queueing hints: which events may help a pod that a plugin rejected, and whether one does.

Most plugins declare theirs beside what they filter (`requeue.on`); those about volumes and devices are here. A hint
gets (plugin, pod, old, new): pods are PodInfo, nodes NodeInfo, everything else documents; old is None for an add, new
for a delete.
"""

from collections.abc import Mapping, Sequence

from seatrial.scheduler.extension import Plugin, Requeue, default_requeues
from seatrial.scheduler.hints.declared_features import NODE_DECLARED_FEATURES
from seatrial.scheduler.hints.dynamic_resources import DYNAMIC_RESOURCES
from seatrial.scheduler.hints.volumes import NODE_VOLUME_LIMITS, VOLUME_BINDING, VOLUME_RESTRICTIONS, VOLUME_ZONE

APART: Mapping[str, Sequence[Requeue]] = {
    "NodeDeclaredFeatures": NODE_DECLARED_FEATURES,
    "VolumeRestrictions": VOLUME_RESTRICTIONS,
    "NodeVolumeLimits": NODE_VOLUME_LIMITS,
    "VolumeBinding": VOLUME_BINDING,
    "VolumeZone": VOLUME_ZONE,
    "DynamicResources": DYNAMIC_RESOURCES,
}
"""Hints that are not in the plugin's own file."""
_REJECTING_POINTS = frozenset(("preEnqueue", "preFilter", "filter", "reserve", "permit"))


def requeues_of(plugin: Plugin, points: Sequence[str]) -> Sequence[Requeue]:
    """The events a plugin registers; one that cannot reject pods registers none, one that does not say any."""
    if not _REJECTING_POINTS.intersection(points):
        return ()
    known = APART.get(plugin.name)
    if known is not None:
        return known
    return plugin.events(plugin.handle.gates if plugin.handle else {}) or default_requeues()
