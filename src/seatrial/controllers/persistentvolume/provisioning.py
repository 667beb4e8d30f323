"""Dynamic provisioning: creates the volume that a CSI driver would.

It happens at once: the volume has what the claim requests and, where the claim waited for its first consumer, is tied
to the zone (without a zone: the host) of the chosen node.
"""

from seatrial.controllers.persistentvolume.annotations import PROVISIONED_BY
from seatrial.model.documents import Document

ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"


def new_volume(claim: Document, storage_class: Document, node: Document | None) -> Document:
    """A volume that is made for a claim."""
    meta, spec = claim["metadata"], claim["spec"]
    name = f"pvc-{meta['uid']}"
    volume_spec: Document = {
        "capacity": {"storage": spec.get("resources", {}).get("requests", {}).get("storage", "0")},
        "accessModes": spec.get("accessModes", []),
        "persistentVolumeReclaimPolicy": storage_class.get("reclaimPolicy", "Delete"),
        "storageClassName": storage_class["metadata"]["name"],
        "volumeMode": spec.get("volumeMode", "Filesystem"),
        "csi": {"driver": storage_class["provisioner"], "volumeHandle": name},
        "claimRef": claim_reference(claim),
    }
    if spec.get("volumeAttributesClassName"):
        volume_spec["volumeAttributesClassName"] = spec["volumeAttributesClassName"]
    affinity = _affinity(node["metadata"].get("labels", {}) if node is not None else {})
    if affinity is not None:
        volume_spec["nodeAffinity"] = affinity
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name, "annotations": {PROVISIONED_BY: storage_class["provisioner"]}},
        "spec": volume_spec,
    }


def claim_reference(claim: Document) -> Document:
    """How a volume names its claim."""
    meta = claim["metadata"]
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "namespace": meta["namespace"],
        "name": meta["name"],
        "uid": meta["uid"],
        "resourceVersion": meta["resourceVersion"],
    }


def _affinity(labels: dict[str, str]) -> Document | None:
    key = next((key for key in (ZONE, HOSTNAME) if key in labels), None)
    if key is None:
        return None
    expression = {"key": key, "operator": "In", "values": [labels[key]]}
    return {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}
