"""Dynamic provisioning: creates the volume that a provisioner would.

It happens at once: the volume has what the claim requests and, where the claim waited for its first consumer, is tied
to the zone (without a zone: the host) of the chosen node. A provisioner whose name cannot be that of a CSI driver, such
as `rancher.io/local-path`, is an external provisioner: it makes a directory of the chosen node.
"""

from seatrial.controllers.persistentvolume.annotations import PROVISIONED_BY
from seatrial.model.documents import Document
from seatrial.store import subdomain_faults

ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"
LONGEST_DRIVER_NAME = 63


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
        "claimRef": claim_reference(claim),
    }
    provisioner = storage_class["provisioner"]
    is_driver = _is_driver_name(provisioner)
    if is_driver:
        volume_spec["csi"] = {"driver": provisioner, "volumeHandle": name}
    else:
        volume_spec["hostPath"] = {"path": f"/var/lib/{provisioner}/{name}", "type": "DirectoryOrCreate"}
    if spec.get("volumeAttributesClassName"):
        volume_spec["volumeAttributesClassName"] = spec["volumeAttributesClassName"]
    labels = node["metadata"].get("labels", {}) if node is not None else {}
    affinity = _affinity(labels, (ZONE, HOSTNAME) if is_driver else (HOSTNAME,))
    if affinity is not None:
        volume_spec["nodeAffinity"] = affinity
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name, "annotations": {PROVISIONED_BY: provisioner}},
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


def _is_driver_name(provisioner: str) -> bool:
    """Whether a CSI driver can have this name; the API server refuses volumes of other drivers."""
    return len(provisioner) <= LONGEST_DRIVER_NAME and not subdomain_faults(provisioner.lower())


def _affinity(labels: dict[str, str], keys: tuple[str, ...]) -> Document | None:
    key = next((key for key in keys if key in labels), None)
    if key is None:
        return None
    expression = {"key": key, "operator": "In", "values": [labels[key]]}
    return {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}
