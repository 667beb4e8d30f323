"""CSI volumes as a resource: a task asks for as many as it has claims of a driver, a node offers what its CSINode says.

A driver that a node's CSINode does not name offers nothing there. A driver without a limit has a very large one.

Upstream: pkg/scheduler/cache/event_handlers.go (getPodCSIVolumes, setCSIResourceOnNode, csiAttachLimitResourceName).
"""

from typing import Final

from seatrial.model.documents import Document
from seatrial.scheduler.cache import PodInfo
from seatrial.scheduler.framework import ObjectLister
from seatrial.scheduler.volumes import claim_references, class_of, foreign_claim, volume_name
from seatrial.volcano.cache.resource import Resource

IGNORED_PROVISIONERS: Final = ("rancher.io/local-path", "hostpath.csi.k8s.io")
"""Drivers whose CSINodes never name them."""
UNLIMITED: Final = (1 << 31) - 1
PREFIX: Final = "attachable-volumes-csi-"
DRIVER_NAME: Final = "csi.storage.k8s.io/csi-driver-name"


def volumes_of(pod: PodInfo, objects: ObjectLister) -> dict[str, int]:
    """How many volumes of each driver a pod has claims for, by the name of the resource.

    None is counted where a claim does not exist yet or was not made for the pod.
    """
    found: dict[str, int] = {}
    for reference in claim_references(pod):
        claim = objects.get("PersistentVolumeClaim", reference.name, pod.namespace)
        if claim is None or (reference.is_ephemeral and foreign_claim(pod, claim) is not None):
            return {}
        driver = _driver(claim, objects)
        if driver and driver not in IGNORED_PROVISIONERS:
            name = resource_name(driver)
            found[name] = found.get(name, 0) + 1
    return found


def offered_by(csi_node: Document | None) -> Resource:
    """What a node offers by its CSINode."""
    offered = Resource()
    for driver in ((csi_node or {}).get("spec") or {}).get("drivers") or ():
        count = (driver.get("allocatable") or {}).get("count")
        offered.set_scalar(resource_name(driver["name"]), float(UNLIMITED if count is None else count))
    return offered


def resource_name(driver: str) -> str:
    """The resource of a driver's volumes."""
    return PREFIX + driver.replace("/", "-")


def _driver(claim: Document, objects: ObjectLister) -> str:
    name = volume_name(claim)
    volume = objects.get("PersistentVolume", name) if name else None
    if volume is not None:
        source = (volume.get("spec") or {}).get("csi") or {}
        return str(source.get("driver", ""))
    storage_class = objects.get("StorageClass", class_of(claim)) if class_of(claim) else None
    if storage_class is None:
        return ""
    parameters = storage_class.get("parameters") or {}
    return str(parameters.get(DRIVER_NAME, storage_class.get("provisioner", "")))
