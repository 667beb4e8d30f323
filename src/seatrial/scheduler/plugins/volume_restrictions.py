"""VolumeRestrictions: disks that one pod only may mount, and claims that one pod only may use.

Upstream: pkg/scheduler/framework/plugins/volumerestrictions (v1.36.3).
"""

from dataclasses import dataclass, replace

from seatrial.model.documents import Document
from seatrial.scheduler.cache.node_info import NodeInfo
from seatrial.scheduler.cache.node_table import Nodes
from seatrial.scheduler.cache.pod_info import PodInfo, PodShape
from seatrial.scheduler.framework.interface import Action, Plugin, Requeue, requeue
from seatrial.scheduler.framework.status import MISSING, SKIP, SUCCESS, Status, error, unresolvable, unschedulable
from seatrial.scheduler.volumes.claims import claim_missing, spec_of, uses_claim

DISK_CONFLICT = "node(s) had no available disk"
CLAIM_IN_USE = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)
STATE_MISSING = 'cannot read "PreFilterVolumeRestrictions" from cycleState'
RESTRICTED = ("gcePersistentDisk", "awsElasticBlockStore", "rbd", "iscsi")


def _claim_names(pod: PodInfo) -> list[str]:
    return [
        volume["persistentVolumeClaim"].get("claimName") or ""
        for volume in pod.shape.volumes
        if volume.get("persistentVolumeClaim") is not None
    ]


def restricted_volumes(pod: PodInfo) -> list[Document]:
    """The pod's volumes whose sharing is restricted."""
    return [volume for volume in pod.shape.volumes if any(volume.get(kind) is not None for kind in RESTRICTED)]


def conflict(volume: Document, other: Document) -> bool:
    """Whether two volumes are the same disk, unless both only read it."""
    for kind in RESTRICTED:
        mine, theirs = volume.get(kind), other.get(kind)
        if mine is None or theirs is None:
            continue
        both_read = bool(mine.get("readOnly") and theirs.get("readOnly"))
        if kind == "awsElasticBlockStore":
            same, both_read = mine.get("volumeID") == theirs.get("volumeID"), False
        elif kind == "gcePersistentDisk":
            same = mine.get("pdName") == theirs.get("pdName")
        elif kind == "iscsi":
            same = mine.get("iqn") == theirs.get("iqn")
        else:
            same = bool(set(mine.get("monitors") or ()) & set(theirs.get("monitors") or ())) and all(
                (mine.get(name) or "") == (theirs.get(name) or "") for name in ("pool", "image")
            )
        if same and not both_read:
            return True
    return False


def disks_conflict(pod: PodInfo, others: list[PodInfo]) -> bool:
    """Whether a pod wants a disk that one of the others holds."""
    return any(
        conflict(volume, existing)
        for volume in restricted_volumes(pod)
        for other in others
        for existing in other.shape.volumes
    )


@dataclass(frozen=True, slots=True)
class OncePodClaims:
    """The pod's ReadWriteOncePod claims, and how often they are in use."""

    names: frozenset[str]
    in_use: int

    def with_pod(self, pod: PodInfo, node: NodeInfo) -> "OncePodClaims":
        return self._changed(pod, 1)

    def without_pod(self, pod: PodInfo, node: NodeInfo) -> "OncePodClaims":
        return self._changed(pod, -1)

    def _changed(self, pod: PodInfo, sign: int) -> "OncePodClaims":
        # Upstream does not look at the namespace here; nor do we.
        uses = sum(1 for name in _claim_names(pod) if name in self.names)
        return replace(self, in_use=self.in_use + sign * uses) if uses else self


class VolumeRestrictions(Plugin):
    """Filters by exclusive disks and claims."""

    requeues = (Requeue("Node", Action.ADD),)

    def skips_shape(self, shape: PodShape) -> bool:
        return not shape.volumes

    def pre_filter(self, pod: PodInfo, nodes: Nodes) -> OncePodClaims | Status:
        if not pod.shape.volumes:
            return SKIP
        names: set[str] = set()
        for name in _claim_names(pod):
            claim = self.handle.cluster.get("PersistentVolumeClaim", name, pod.namespace)
            if claim is None:
                return unresolvable(claim_missing(name))
            if "ReadWriteOncePod" in (spec_of(claim).get("accessModes") or ()):
                names.add(name)
        state = OncePodClaims(frozenset(names), self._in_use(pod.namespace, names) if names else 0)
        return state if state.in_use or restricted_volumes(pod) else SKIP

    def _in_use(self, namespace: str, names: set[str]) -> int:
        """How many of the claims some pod on a node uses."""
        used: set[str] = set()
        for node in self.handle.nodes.infos:
            for pod in node.pods if node is not None else ():
                if pod.namespace == namespace and pod.shape.volumes:
                    used.update(name for name in _claim_names(pod) if name in names)
        return len(used)

    def filter_one(self, pod: PodInfo, node: NodeInfo, state: OncePodClaims) -> Status:
        if disks_conflict(pod, node.pods):
            return unschedulable(DISK_CONFLICT)
        if state is MISSING:
            return error(STATE_MISSING)
        return unschedulable(CLAIM_IN_USE) if state.in_use > 0 else SUCCESS

    @requeue.on("Pod", Action.DELETE)
    def disk_released(self, pod: PodInfo, old: PodInfo, new: None) -> bool:
        if old.namespace != pod.namespace:
            return False
        return disks_conflict(pod, [old]) or not set(_claim_names(pod)).isdisjoint(_claim_names(old))

    @requeue.on("PersistentVolumeClaim", Action.ADD)
    def claim_created(self, pod: PodInfo, old: None, new: Document) -> bool:
        return uses_claim(pod, new, ephemeral=False)
