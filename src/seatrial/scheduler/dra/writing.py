"""The writes of DynamicResources: allocation and reservation of claims, and their undoing.

Upstream: bindClaim, Unreserve, PostFilter and deleteClaim in dynamicresources.go.
"""

from copy import deepcopy

from seatrial.model.documents import Document
from seatrial.model.errors import NotFound, StatusError
from seatrial.model.times import to_time
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.dra.pod_claims import allocation_of, is_reserved_for
from seatrial.scheduler.dra.requests import key_of
from seatrial.scheduler.framework.cluster import Client, ObjectLister
from seatrial.scheduler.volumes.claims import metadata_of

KIND = "ResourceClaim"
FINALIZER = "resource.kubernetes.io/delete-protection"


class WriteFailed(Exception):
    """A claim could not be written; the pod is tried again."""


def current(cluster: ObjectLister, claim: Document) -> Document:
    """The claim as it is stored now, to be changed."""
    metadata = metadata_of(claim)
    stored = cluster.get(KIND, metadata.get("name", ""), metadata.get("namespace") or "")
    if stored is None:
        name = metadata.get("name", "")
        raise WriteFailed(
            f'get updated claim {key_of(claim)} after conflict: resourceclaims.resource.k8s.io "{name}" not found'
        )
    return deepcopy(stored)


def bind_claim(
    client: Client, cluster: ObjectLister, claim: Document, allocation: Document | None, pod: PodInfo, now: int
) -> Document:
    """Records the allocation, if there is a new one, and that the pod uses the claim."""
    document, about = current(cluster, claim), key_of(claim)
    if metadata_of(document).get("deletionTimestamp") is not None:
        raise WriteFailed(f"claim {about} got deleted in the meantime")
    if allocation is not None:
        if allocation_of(document) is not None:
            raise WriteFailed(f"claim {about} got allocated elsewhere in the meantime")
        if FINALIZER not in (metadata_of(document).get("finalizers") or ()):
            document["metadata"].setdefault("finalizers", []).append(FINALIZER)
            document = _update(client, document, "", f"add finalizer to claim {about}")
        document.setdefault("status", {})["allocation"] = deepcopy(allocation)
    stored_allocation = allocation_of(document)
    if stored_allocation is None:
        raise WriteFailed(f"claim {about} got deallocated elsewhere in the meantime")
    stored_allocation.setdefault("allocationTimestamp", to_time(now))
    consumer = {"resource": "pods", "name": pod.name, "uid": pod.uid}
    document["status"]["reservedFor"] = [*(document["status"].get("reservedFor") or ()), consumer]
    what = "add allocation and reservation to claim" if allocation is not None else "add reservation to claim"
    return _update(client, document, "status", f"{what} {about}")


def _update(client: Client, document: Document, subresource: str, doing: str) -> Document:
    try:
        return client.update(KIND, document, subresource)
    except StatusError as problem:
        raise WriteFailed(f"{doing}: {problem}") from problem


def unreserve_claim(client: Client, cluster: ObjectLister, claim: Document, pod: PodInfo) -> None:
    """The pod no longer uses the claim; what was allocated stays."""
    try:
        document = current(cluster, claim)
        if is_reserved_for(document, pod):
            status = document["status"]
            status["reservedFor"] = [entry for entry in status["reservedFor"] if entry.get("uid") != pod.uid]
            client.update(KIND, document, "status")
    except (WriteFailed, StatusError):
        # Upstream logs it: the next attempt of the pod comes by here again.
        return


def deallocate(client: Client, claim: Document) -> None:
    """Frees the devices of a claim that no other pod uses."""
    document = deepcopy(claim)
    for name in ("allocation", "reservedFor", "devices"):
        document["status"].pop(name, None)
    client.update(KIND, document, "status")


def delete_claim(client: Client, cluster: ObjectLister, claim: Document) -> None:
    """Deletes a claim of the scheduler's own; its finalizer would keep it."""
    document = current(cluster, claim)
    finalizers = metadata_of(document).get("finalizers") or []
    if FINALIZER in finalizers:
        document["metadata"]["finalizers"] = [name for name in finalizers if name != FINALIZER]
    about = f"{metadata_of(claim).get('namespace')}/{metadata_of(claim).get('name')}"
    _update(client, document, "", f"update resourceclaim {about}")
    try:
        client.delete(KIND, metadata_of(claim).get("name", ""), metadata_of(claim).get("namespace") or "")
    except NotFound:
        return


def create_extended_claim(client: Client, claim: Document) -> Document:
    """Creates the claim for a pod's extended resources under a generated name."""
    document = deepcopy(claim)
    document["metadata"].pop("name")
    document["metadata"].pop("uid")
    try:
        return client.create(KIND, document)
    except StatusError as problem:
        about = metadata_of(claim).get("namespace")
        raise WriteFailed(f"create claim for extended resources {about}/: {problem}") from problem


def note_extended_claim(
    client: Client, cluster: ObjectLister, pod: PodInfo, claim: str, mappings: list[Document]
) -> None:
    """Writes into the pod's status which container gets which devices, for the kubelet."""
    if not mappings:
        raise WriteFailed(f"nil or empty request mappings, no update of pod {pod.key} ExtendedResourceClaimStatus")
    stored = cluster.get("Pod", pod.name, pod.namespace)
    if stored is None or metadata_of(stored).get("uid") != pod.uid:
        about = f'update pod {pod.key} ExtendedResourceClaimStatus: pods "{pod.name}" not found'
        raise WriteFailed(about)
    document = deepcopy(stored)
    status = {"resourceClaimName": claim, "requestMappings": mappings}
    document.setdefault("status", {})["extendedResourceClaimStatus"] = status
    try:
        client.update("Pod", document, "status")
    except StatusError as problem:
        raise WriteFailed(f"update pod {pod.key} ExtendedResourceClaimStatus: {problem}") from problem
