"""Objects for shapes, in a line each."""

from typing import Any

from tests.outside.objects import node
from tests.outside.whole_runs.shape import Document

__all__ = ["HOST", "ZONE", "claim", "in_zone", "named", "node", "pod", "priority_class", "storage_class", "volume"]

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def pod(name: str, cpu: str = "100m", labels: dict[str, str] | None = None, **spec: Any) -> Document:
    """A pod in the namespace default."""
    container: Document = {"name": "c", "image": "example.com/image", "resources": {"requests": {"cpu": cpu}}}
    container |= spec.pop("container", {})
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": labels or {}},
        "spec": {"containers": [container], **spec},
    }


def in_zone(name: str, zone: str, **amounts: Any) -> Document:
    """A node in a zone."""
    return node(name, **amounts, **{ZONE: zone})


def named(api_version: str, kind: str, name: str, **fields: Any) -> Document:
    """An object of no namespace."""
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **fields}


def priority_class(name: str, value: int) -> Document:
    return named("scheduling.k8s.io/v1", "PriorityClass", name, value=value)


def storage_class(name: str, mode: str = "Immediate", provisioner: str = "example.com/none") -> Document:
    return named("storage.k8s.io/v1", "StorageClass", name, provisioner=provisioner, volumeBindingMode=mode)


def claim(name: str, storage_class: str, volume: str = "") -> Document:
    """A PersistentVolumeClaim, bound where a volume is named."""
    spec: Document = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": storage_class,
        "resources": {"requests": {"storage": "1Gi"}},
    }
    metadata: Document = {"name": name, "namespace": "default"}
    document: Document = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}
    if volume:
        spec["volumeName"] = volume
        metadata["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
        document["status"] = {"phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}}
    return document


def volume(name: str, storage_class: str, node: str = "", claim: str = "", labels: dict[str, str] | None = None) -> Any:
    """A PersistentVolume, on one node and for one claim where they are named."""
    spec: Document = {
        "accessModes": ["ReadWriteOnce"],
        "capacity": {"storage": "1Gi"},
        "storageClassName": storage_class,
        "persistentVolumeReclaimPolicy": "Retain",
        "local": {"path": "/mnt"} if node else None,
        "hostPath": None if node else {"path": "/mnt"},
    }
    terms = [{"matchExpressions": [{"key": HOST, "operator": "In", "values": [node]}]}]
    if node:
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}
    if claim:
        spec["claimRef"] = {"kind": "PersistentVolumeClaim", "namespace": "default", "name": claim}
    spec = {key: value for key, value in spec.items() if value is not None}
    document = named("v1", "PersistentVolume", name, spec=spec, status={"phase": "Bound" if claim else "Available"})
    document["metadata"]["labels"] = labels or {}
    return document
