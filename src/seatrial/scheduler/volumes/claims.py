"""Small questions about claims, volumes and classes, asked by every volume plugin.

Upstream: component-helpers/storage/volume and storage/ephemeral.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from seatrial.model.documents import Document
from seatrial.model.quantity import Quantity
from seatrial.scheduler.cache.pod_info import PodInfo

BETA_CLASS = "volume.beta.kubernetes.io/storage-class"
BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
WAIT_FOR_CONSUMER = "WaitForFirstConsumer"
NO_PROVISIONER = "kubernetes.io/no-provisioner"
_ZERO = Quantity(0)


@dataclass(frozen=True, slots=True)
class ClaimReference:
    """A claim that a pod's volume uses; `is_ephemeral`: made for the pod, under a name derived from it."""

    name: str
    is_ephemeral: bool


def reference_of(pod: PodInfo, volume: Document) -> ClaimReference | None:
    """The claim of a volume, None for volumes of another kind."""
    if volume.get("persistentVolumeClaim") is not None:
        return ClaimReference(volume["persistentVolumeClaim"].get("claimName") or "", False)
    if volume.get("ephemeral") is not None:
        return ClaimReference(f"{pod.name}-{volume.get('name', '')}", True)
    return None


def claim_references(pod: PodInfo) -> Iterator[ClaimReference]:
    """The claims of a pod, in the order of its volumes."""
    for volume in pod.shape.volumes:
        reference = reference_of(pod, volume)
        if reference is not None:
            yield reference


def uses_claim(pod: PodInfo, claim: Document, *, ephemeral: bool = True) -> bool:
    """Whether a volume of the pod names the claim, or, if `ephemeral` counts, the claim is made for the pod."""
    metadata = metadata_of(claim)
    return metadata.get("namespace") == pod.namespace and any(
        reference.name == metadata["name"] and (ephemeral or not reference.is_ephemeral)
        for reference in claim_references(pod)
    )


def metadata_of(document: Document) -> Document:
    metadata: Document = document.get("metadata") or {}
    return metadata


def spec_of(document: Document) -> Document:
    spec: Document = document.get("spec") or {}
    return spec


def key_of(claim: Document) -> str:
    """`namespace/name`."""
    metadata = metadata_of(claim)
    return f"{metadata.get('namespace') or ''}/{metadata.get('name', '')}"


def annotation(document: Document, name: str) -> str | None:
    value: str | None = (metadata_of(document).get("annotations") or {}).get(name)
    return value


def class_of(claim: Document) -> str:
    """The storage class of a claim or a volume; the old annotation comes first."""
    legacy = annotation(claim, BETA_CLASS)
    return legacy if legacy is not None else spec_of(claim).get("storageClassName") or ""


def volume_name(claim: Document) -> str:
    name: str = spec_of(claim).get("volumeName") or ""
    return name


def is_fully_bound(claim: Document) -> bool:
    """Bound, and the volume controller is done with it."""
    return bool(volume_name(claim)) and annotation(claim, BIND_COMPLETED) is not None


def foreign_claim(pod: PodInfo, claim: Document) -> str | None:
    """The complaint about an ephemeral volume's claim that was not made for the pod."""
    metadata = metadata_of(claim)
    if metadata.get("namespace") == pod.namespace and is_controlled_by(claim, pod.uid):
        return None
    return (
        f"PVC {metadata.get('namespace')}/{metadata.get('name')} was not created for pod {pod.namespace}/{pod.name} "
        "(pod is not owner)"
    )


def is_controlled_by(document: Document, uid: str) -> bool:
    """Whether the object's controller has this uid."""
    for owner in metadata_of(document).get("ownerReferences") or ():
        if owner.get("controller"):
            return bool(owner.get("uid") == uid)
    return False


def requested_storage(claim: Document) -> Quantity | None:
    """The size a claim asks for."""
    text = ((spec_of(claim).get("resources") or {}).get("requests") or {}).get("storage")
    return None if text is None else Quantity.parse(text)


def capacity_of(volume: Document) -> Quantity:
    """The size of a volume."""
    text = (spec_of(volume).get("capacity") or {}).get("storage")
    return _ZERO if text is None else Quantity.parse(text)


def is_bound_to(volume: Document, claim: Document) -> bool:
    """Whether a volume names the claim, independent of the writer of the reference."""
    reference, metadata = spec_of(volume).get("claimRef"), metadata_of(claim)
    if reference is None or reference.get("name") != metadata.get("name"):
        return False
    if (reference.get("namespace") or "") != (metadata.get("namespace") or ""):
        return False
    return not reference.get("uid") or reference["uid"] == metadata.get("uid")


def claim_missing(name: str) -> str:
    return f'persistentvolumeclaim "{name}" not found'


def volume_missing(name: str) -> str:
    return f'persistentvolume "{name}" not found'


def class_missing(name: str) -> str:
    return f'storageclass.storage.k8s.io "{name}" not found'
