"""VolumeZone: a bound volume with zone labels is used in those zones only.

Upstream: pkg/scheduler/framework/plugins/volumezone (v1.36.3).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from seatrial.model.documents import Document
from seatrial.scheduler.cache.node_info import NodeInfo
from seatrial.scheduler.cache.node_table import Nodes
from seatrial.scheduler.cache.pod_info import PodInfo, PodShape
from seatrial.scheduler.framework.interface import Action, Plugin, Requeue, requeue
from seatrial.scheduler.framework.status import MISSING, SKIP, SUCCESS, Status, unresolvable
from seatrial.scheduler.volumes.claims import (
    WAIT_FOR_CONSUMER,
    claim_missing,
    class_missing,
    class_of,
    metadata_of,
    uses_claim,
    volume_missing,
    volume_name,
)
from seatrial.scheduler.volumes.migration import BETA_REGION, BETA_ZONE, REGION, ZONE

CONFLICT = "node(s) had no available volume zone"
LABELS = (BETA_ZONE, BETA_REGION, ZONE, REGION)
GA_LABELS = {BETA_ZONE: ZONE, BETA_REGION: REGION}


@dataclass(frozen=True, slots=True)
class Topology:
    """A zone or region label of a volume; several values are written `a__b`."""

    key: str
    values: frozenset[str]

    def admits(self, node: NodeInfo) -> bool:
        value = node.labels.get(self.key)
        if value is None:
            value = node.labels.get(GA_LABELS.get(self.key, self.key))
        return value is not None and value in self.values


def topologies(volume: Document) -> tuple[Topology, ...]:
    """The zone labels of a volume; one with an empty part is ignored."""
    labels = metadata_of(volume).get("labels") or {}
    found: list[Topology] = []
    for key in LABELS:
        if key in labels:
            values = frozenset(part.strip() for part in labels[key].split("__"))
            if "" not in values:
                found.append(Topology(key, values))
    return tuple(found)


class VolumeZone(Plugin):
    """Filters by the zones of bound volumes."""

    requeues = (Requeue("Node", Action.ADD | Action.UPDATE_NODE_LABEL),)

    def skips_shape(self, shape: PodShape) -> bool:
        return not shape.volumes

    def pre_filter(self, pod: PodInfo, nodes: Nodes) -> Sequence[Topology] | Status:
        if not pod.shape.volumes:
            return SKIP
        found = self._topologies(pod)
        return found if isinstance(found, Status) else found or SKIP

    def _topologies(self, pod: PodInfo) -> tuple[Topology, ...] | Status:
        cluster = self.handle.cluster
        found: list[Topology] = []
        for source in pod.shape.volumes:
            if source.get("persistentVolumeClaim") is None:
                continue
            name = source["persistentVolumeClaim"].get("claimName") or ""
            if not name:
                return unresolvable("PersistentVolumeClaim had no name")
            claim = cluster.get("PersistentVolumeClaim", name, pod.namespace)
            if claim is None:
                return unresolvable(claim_missing(name))
            if not volume_name(claim):
                problem = self._unbound(claim)
                if problem is not None:
                    return problem
                continue
            volume = cluster.get("PersistentVolume", volume_name(claim))
            if volume is None:
                return unresolvable(volume_missing(volume_name(claim)))
            found.extend(topologies(volume))
        return tuple(found)

    def _unbound(self, claim: Document) -> Status | None:
        """What is wrong with a claim without a volume; nothing if it waits for its consumer."""
        name = class_of(claim)
        if not name:
            return unresolvable("PersistentVolumeClaim had no pv name and storageClass name")
        storage_class = self.handle.cluster.get("StorageClass", name)
        if storage_class is None:
            return unresolvable(class_missing(name))
        mode = storage_class.get("volumeBindingMode")
        if mode is None:
            return unresolvable(f'VolumeBindingMode not set for StorageClass "{name}"')
        return None if mode == WAIT_FOR_CONSUMER else unresolvable("PersistentVolume had no name")

    def filter_one(self, pod: PodInfo, node: NodeInfo, state: Sequence[Topology]) -> Status:
        if not pod.shape.volumes:
            return SUCCESS
        if state is MISSING:
            found = self._topologies(pod)
            if isinstance(found, Status):
                return found
            state = found
        if not any(key in node.labels for key in LABELS):
            return SUCCESS
        return SUCCESS if all(topology.admits(node) for topology in state) else unresolvable(CONFLICT)

    @requeue.on("StorageClass", Action.ADD)
    def late_binding_class_created(self, pod: PodInfo, old: None, new: Document) -> bool:
        return new.get("volumeBindingMode") == WAIT_FOR_CONSUMER

    @requeue.on("PersistentVolumeClaim", Action.ADD | Action.UPDATE)
    def claim_changed(self, pod: PodInfo, old: Document | None, new: Document) -> bool:
        return uses_claim(pod, new, ephemeral=False)

    @requeue.on("PersistentVolume", Action.ADD | Action.UPDATE)
    def volume_moved(self, pod: PodInfo, old: Document | None, new: Document) -> bool:
        return old is None or topologies(old) != topologies(new)
