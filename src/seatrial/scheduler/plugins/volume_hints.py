"""Hints of the volume plugins.

Upstream: isSchedulableAfter… of the plugins volumerestrictions, nodevolumelimits, volumebinding and volumezone
(v1.36.3).
"""

from collections.abc import Iterator, Sequence

from seatrial.model.documents import Document
from seatrial.model.quantity import quantity_value
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.framework.interface import Action, Plugin, Requeue

_ZONE_LABELS = (
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
)
_MIGRATED = "storage.alpha.kubernetes.io/migrated-plugins"
_INLINE_DRIVERS = {
    "awsElasticBlockStore": "ebs.csi.aws.com",
    "azureDisk": "disk.csi.azure.com",
    "azureFile": "file.csi.azure.com",
    "cinder": "cinder.csi.openstack.org",
    "gcePersistentDisk": "pd.csi.storage.gke.io",
    "portworxVolume": "pxd.portworx.com",
    "vsphereVolume": "csi.vsphere.vmware.com",
}
"""In-tree volumes in a pod's own spec that a CSI driver stands in for."""


def claim_is_the_pods(_: Plugin, pod: PodInfo, __: Document | None, new: Document) -> bool:
    """The claim is named by a volume, or made for an ephemeral one."""
    return _names(pod, new, ephemeral=True)


def named_claim_came(_: Plugin, pod: PodInfo, __: Document | None, new: Document) -> bool:
    return _names(pod, new, ephemeral=False)


def disk_released(_: Plugin, pod: PodInfo, old: PodInfo, __: None) -> bool:
    if old.namespace != pod.namespace:
        return False
    if any(_conflict(ours, theirs) for ours in pod.shape.volumes for theirs in old.shape.volumes):
        return True
    claims = set(_claims(pod, ephemeral=False))
    return any(name in claims for name in _claims(old, ephemeral=False))


def attached_pod_left(_: Plugin, __: PodInfo, old: PodInfo, ___: None) -> bool:
    if not old.node and not old.nominated_node:
        return False
    return any("persistentVolumeClaim" in v or "ephemeral" in v or _inline_driver(v) for v in old.shape.volumes)


def attachment_gone(_: Plugin, pod: PodInfo, old: Document, __: None) -> bool:
    attacher = (old.get("spec") or {}).get("attacher")
    return any("persistentVolumeClaim" in v or _inline_driver(v) == attacher for v in pod.shape.volumes)


def limit_raised(_: Plugin, __: PodInfo, old: Document, new: Document) -> bool:
    before = dict(_limits(old))
    return any(limit > before.get(driver, 0) for driver, limit in _limits(new))


def class_changed(_: Plugin, __: PodInfo, old: Document | None, new: Document) -> bool:
    return old is None or (old.get("allowedTopologies") or []) != (new.get("allowedTopologies") or [])


def migration_changed(_: Plugin, __: PodInfo, old: Document | None, new: Document) -> bool:
    return old is None or _annotation(old, _MIGRATED) != _annotation(new, _MIGRATED)


def capacity_no_longer_checked(_: Plugin, pod: PodInfo, old: Document, new: Document) -> bool:
    if not any((volume.get("csi") or {}).get("driver") == new["metadata"]["name"] for volume in pod.shape.volumes):
        return False
    return bool((old.get("spec") or {}).get("storageCapacity")) and not (new.get("spec") or {}).get("storageCapacity")


def capacity_grew(_: Plugin, __: PodInfo, old: Document | None, new: Document) -> bool:
    if old is None:
        return True
    before, after = _volume_limit(old), _volume_limit(new)
    return after is not None and (before is None or after > before)


def late_binding_class_came(_: Plugin, __: PodInfo, ___: None, new: Document) -> bool:
    return new.get("volumeBindingMode") == "WaitForFirstConsumer"


def volume_moved(_: Plugin, __: PodInfo, old: Document | None, new: Document) -> bool:
    return old is None or _topologies(old) != _topologies(new)


def _names(pod: PodInfo, claim: Document, *, ephemeral: bool) -> bool:
    metadata = claim["metadata"]
    return metadata.get("namespace") == pod.namespace and metadata["name"] in _claims(pod, ephemeral=ephemeral)


def _claims(pod: PodInfo, *, ephemeral: bool) -> Iterator[str]:
    for volume in pod.shape.volumes:
        if "persistentVolumeClaim" in volume:
            yield volume["persistentVolumeClaim"].get("claimName", "")
        elif ephemeral and "ephemeral" in volume:
            yield f"{pod.name}-{volume['name']}"


def _conflict(ours: Document, theirs: Document) -> bool:
    """Whether two disks are one that cannot be mounted twice."""

    def shared(kind: str, *keys: str) -> bool:
        a, b = ours.get(kind), theirs.get(kind)
        if a is None or b is None or any(a.get(key) != b.get(key) for key in keys):
            return False
        return not (a.get("readOnly") and b.get("readOnly"))

    ebs = ours.get("awsElasticBlockStore"), theirs.get("awsElasticBlockStore")
    if ebs[0] and ebs[1] and ebs[0].get("volumeID") == ebs[1].get("volumeID"):
        return True
    if shared("gcePersistentDisk", "pdName") or shared("iscsi", "iqn"):
        return True
    monitors = [set((volume.get("rbd") or {}).get("monitors") or ()) for volume in (ours, theirs)]
    return bool(monitors[0] & monitors[1]) and shared("rbd", "pool", "image")


def _inline_driver(volume: Document) -> str | None:
    return next((driver for kind, driver in _INLINE_DRIVERS.items() if kind in volume), None)


def _limits(node: Document) -> Iterator[tuple[str, int]]:
    for driver in (node.get("spec") or {}).get("drivers") or ():
        yield driver.get("name", ""), (driver.get("allocatable") or {}).get("count") or 0


def _annotation(document: Document, key: str) -> str:
    return str((document["metadata"].get("annotations") or {}).get(key, ""))


def _volume_limit(capacity: Document) -> int | None:
    text = capacity.get("maximumVolumeSize") or capacity.get("capacity")
    return None if text is None else quantity_value(text)


def _topologies(volume: Document) -> dict[str, frozenset[str]]:
    labels = volume["metadata"].get("labels") or {}
    return {key: frozenset(labels[key].split("__")) for key in _ZONE_LABELS if labels.get(key)}


_ADD_OR_UPDATE = Action.ADD | Action.UPDATE
_NODE_COMES = Requeue("Node", Action.ADD | Action.UPDATE_NODE_LABEL)

VOLUME_RESTRICTIONS: Sequence[Requeue] = (
    Requeue("Pod", Action.DELETE, disk_released),
    Requeue("Node", Action.ADD),
    Requeue("PersistentVolumeClaim", Action.ADD, named_claim_came),
)
NODE_VOLUME_LIMITS: Sequence[Requeue] = (
    Requeue("CSINode", Action.ADD),
    Requeue("CSINode", Action.UPDATE, limit_raised),
    Requeue("Pod", Action.DELETE, attached_pod_left),
    Requeue("PersistentVolumeClaim", Action.ADD, claim_is_the_pods),
    Requeue("VolumeAttachment", Action.DELETE, attachment_gone),
)
VOLUME_BINDING: Sequence[Requeue] = (
    Requeue("StorageClass", _ADD_OR_UPDATE, class_changed),
    Requeue("PersistentVolumeClaim", _ADD_OR_UPDATE, claim_is_the_pods),
    Requeue("PersistentVolume", _ADD_OR_UPDATE),
    _NODE_COMES,
    Requeue("CSINode", _ADD_OR_UPDATE, migration_changed),
    Requeue("CSIDriver", Action.UPDATE, capacity_no_longer_checked),
    Requeue("CSIStorageCapacity", _ADD_OR_UPDATE, capacity_grew),
)
VOLUME_ZONE: Sequence[Requeue] = (
    Requeue("StorageClass", Action.ADD, late_binding_class_came),
    _NODE_COMES,
    Requeue("PersistentVolumeClaim", _ADD_OR_UPDATE, named_claim_came),
    Requeue("PersistentVolume", _ADD_OR_UPDATE, volume_moved),
)
