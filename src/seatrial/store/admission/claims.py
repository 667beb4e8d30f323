"""Volumes and claims: a default storage class, protection while in use, and growth only where the class allows it.

Upstream: plugin/pkg/admission/storage/{storageclass/setdefault,storageobjectinuseprotection,persistentvolume/resize}.
"""

from typing import Final

from seatrial.model.documents import Document
from seatrial.model.quantity import Quantity
from seatrial.store.admission.namespaced_reader import Reader, forbidden
from seatrial.store.requests import Request

CLAIM_PROTECTION: Final = "kubernetes.io/pvc-protection"
VOLUME_PROTECTION: Final = "kubernetes.io/pv-protection"
ATTRIBUTES_CLASS_PROTECTION: Final = "kubernetes.io/vac-protection"
_CLASS_ANNOTATION: Final = "volume.beta.kubernetes.io/storage-class"
_DEFAULT_MARKS: Final = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)


def set_default_class(request: Request, reader: Reader) -> None:
    """The newest default class for a claim that names none."""
    if request.operation != "CREATE" or request.subresource:
        return
    spec = request.document.setdefault("spec", {})
    annotations = request.document["metadata"].get("annotations") or {}
    if _CLASS_ANNOTATION in annotations or spec.get("storageClassName") is not None:
        return
    defaults = [found for found in reader.all(request.store, "storage.k8s.io/v1", "StorageClass") if _is_default(found)]
    defaults.sort(key=lambda found: found["metadata"]["name"])
    newest = max(defaults, key=lambda found: str(found["metadata"].get("creationTimestamp", "")), default=None)
    if newest is not None:
        spec["storageClassName"] = newest["metadata"]["name"]


def protect_claim(request: Request, reader: Reader) -> None:
    """A claim stays while a pod uses it."""
    _protect(request, CLAIM_PROTECTION)


def protect_volume(request: Request, reader: Reader) -> None:
    """A volume stays while a claim is bound to it."""
    _protect(request, VOLUME_PROTECTION)


def protect_attributes_class(request: Request, reader: Reader) -> None:
    """A class of attributes stays while a volume has it."""
    _protect(request, ATTRIBUTES_CLASS_PROTECTION)


def check_expansion(request: Request, reader: Reader) -> None:
    """A claim may grow once it is bound and if its class says so."""
    if request.operation != "UPDATE" or request.subresource or request.old is None:
        return
    if not _storage(request.document) > _storage(request.old):
        return
    if (request.old.get("status") or {}).get("phase") != "Bound":
        raise forbidden(request, "Only bound persistent volume claims can be expanded")
    name = claim_class(request.document)
    found = reader.find(request.store, "storage.k8s.io/v1", "StorageClass", name)
    if not name or name != claim_class(request.old) or found is None or not found.get("allowVolumeExpansion"):
        why = (
            "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc "
            "must support resize"
        )
        raise forbidden(request, why)


def claim_class(claim: Document) -> str:
    """The storage class of a claim."""
    annotated = (claim["metadata"].get("annotations") or {}).get(_CLASS_ANNOTATION)
    return str(annotated or (claim.get("spec") or {}).get("storageClassName") or "")


def _is_default(found: Document) -> bool:
    annotations = found["metadata"].get("annotations") or {}
    return any(annotations.get(mark) == "true" for mark in _DEFAULT_MARKS)


def _protect(request: Request, finalizer: str) -> None:
    if request.operation != "CREATE" or request.subresource:
        return
    metadata = request.document["metadata"]
    finalizers = metadata.get("finalizers") or []
    if finalizer not in finalizers:
        metadata["finalizers"] = [*finalizers, finalizer]


def _storage(claim: Document) -> Quantity:
    requests = ((claim.get("spec") or {}).get("resources") or {}).get("requests") or {}
    return Quantity.parse(requests.get("storage", 0))
