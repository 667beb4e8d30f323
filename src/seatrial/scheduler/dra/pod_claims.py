"""The claims of a pod: which object each entry of `spec.resourceClaims` refers to.

Upstream: k8s.io/dynamic-resource-allocation/resourceclaim, dynamicresources.foreachPodResourceClaim.
"""

from seatrial.model.documents import Document
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.framework.cluster import ObjectLister
from seatrial.scheduler.volumes.claims import is_controlled_by, metadata_of


class ClaimProblem(Exception):
    """The pod cannot be scheduled because of one of its claims; the message is for the user."""


def allocation_of(claim: Document) -> Document | None:
    """What is allocated for a claim."""
    allocation: Document | None = (claim.get("status") or {}).get("allocation")
    return allocation


def reserved_for(claim: Document) -> list[Document]:
    """The users of the claim."""
    consumers: list[Document] = (claim.get("status") or {}).get("reservedFor") or []
    return consumers


def is_reserved_for(claim: Document, pod: PodInfo) -> bool:
    return any(consumer.get("uid") == pod.uid for consumer in reserved_for(claim))


def uid_of(claim: Document) -> str:
    uid: str = metadata_of(claim).get("uid") or ""
    return uid


def claim_name(pod: PodInfo, entry: Document) -> tuple[str | None, bool]:
    """The claim's name (None if the pod needs no claim), and whether it must have been made for the pod."""
    if entry.get("resourceClaimName") is not None:
        return entry["resourceClaimName"], False
    if entry.get("resourceClaimTemplateName") is None:
        unsupported = "none of the supported fields are set"
        raise ClaimProblem(f'pod "{pod.key}", spec.resourceClaim "{entry.get("name", "")}": {unsupported}')
    for status in pod.status.get("resourceClaimStatuses") or ():
        if status.get("name") == entry.get("name"):
            return status.get("resourceClaimName"), True
    raise ClaimProblem(f'pod "{pod.key}": ResourceClaim not created yet')


def claims_of(pod: PodInfo, cluster: ObjectLister) -> list[Document]:
    """The claims of a pod in the order of its spec, or ClaimProblem."""
    found: list[Document] = []
    for entry in pod.spec.get("resourceClaims") or ():
        name, must_be_owned = claim_name(pod, entry)
        if name is None:
            continue
        claim = cluster.get("ResourceClaim", name, pod.namespace)
        if claim is None:
            raise ClaimProblem(f'could not find ResourceClaim "{pod.namespace}/{name}"')
        if metadata_of(claim).get("deletionTimestamp") is not None:
            raise ClaimProblem(f'resourceclaim "{name}" is being deleted')
        if must_be_owned and not is_controlled_by(claim, pod.uid):
            about = f"ResourceClaim {pod.namespace}/{name} was not created for Pod {pod.key}"
            raise ClaimProblem(f"{about} (Pod is not owner)")
        found.append(claim)
    return found
