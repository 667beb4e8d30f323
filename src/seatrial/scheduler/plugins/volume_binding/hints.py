"""Queueing hints of VolumeBinding. Upstream: plugins/volumebinding/volume_binding.go (v1.36.3)."""

from seatrial.model.documents import Document
from seatrial.model.quantity import quantity_value
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.framework.interface import Action, Plugin, Requeue
from seatrial.scheduler.volumes.claims import annotation, metadata_of, spec_of, uses_claim
from seatrial.scheduler.volumes.migration import MIGRATED_PLUGINS


def class_changed(_: Plugin, __: PodInfo, old: Document | None, new: Document) -> bool:
    return old is None or (old.get("allowedTopologies") or []) != (new.get("allowedTopologies") or [])


def claim_changed(_: Plugin, pod: PodInfo, __: Document | None, new: Document) -> bool:
    return uses_claim(pod, new)


def migration_changed(_: Plugin, __: PodInfo, old: Document | None, new: Document) -> bool:
    return old is None or annotation(old, MIGRATED_PLUGINS) != annotation(new, MIGRATED_PLUGINS)


def capacity_no_longer_checked(_: Plugin, pod: PodInfo, old: Document, new: Document) -> bool:
    driver = metadata_of(new)["name"]
    if not any((volume.get("csi") or {}).get("driver") == driver for volume in pod.shape.volumes):
        return False
    return bool(spec_of(old).get("storageCapacity")) and not spec_of(new).get("storageCapacity")


def capacity_grew(_: Plugin, __: PodInfo, old: Document | None, new: Document) -> bool:
    if old is None:
        return True
    before, after = _volume_limit(old), _volume_limit(new)
    return after is not None and (before is None or after > before)


def _volume_limit(capacity: Document) -> int | None:
    text = capacity.get("maximumVolumeSize") or capacity.get("capacity")
    return None if text is None else quantity_value(text)


_ADD_OR_UPDATE = Action.ADD | Action.UPDATE
HINTS: tuple[Requeue, ...] = (
    Requeue("StorageClass", _ADD_OR_UPDATE, class_changed),
    Requeue("PersistentVolumeClaim", _ADD_OR_UPDATE, claim_changed),
    Requeue("PersistentVolume", _ADD_OR_UPDATE),
    Requeue("Node", Action.ADD | Action.UPDATE_NODE_LABEL),
    Requeue("CSINode", _ADD_OR_UPDATE, migration_changed),
    Requeue("CSIDriver", Action.UPDATE, capacity_no_longer_checked),
    Requeue("CSIStorageCapacity", _ADD_OR_UPDATE, capacity_grew),
)
