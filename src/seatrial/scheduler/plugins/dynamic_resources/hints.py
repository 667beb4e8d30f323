"""Hints of DynamicResources. Upstream: plugins/dynamicresources/dynamicresources.go (v1.36.3)."""

from seatrial.model.documents import Document
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.framework.interface import Action, Plugin, Requeue


def claim_changed(plugin: Plugin, pod: PodInfo, old: Document | None, new: Document) -> bool:
    claims = _claims(plugin, pod)
    if claims is None:
        return False
    if old is not None and _status(old).get("allocation") and not _status(new).get("allocation"):
        return True
    if not any(claim["metadata"].get("uid") == new["metadata"].get("uid") for claim in claims):
        return False
    return old is None or _status(old) != _status(new)


def own_claims_are_there(plugin: Plugin, pod: PodInfo, _: PodInfo | None, new: PodInfo) -> bool:
    return pod.uid == new.uid and _claims(plugin, new) is not None


def _status(claim: Document) -> Document:
    return claim.get("status") or {}


def _claims(plugin: Plugin, pod: PodInfo) -> list[Document] | None:
    """The claims of a pod; None where one is missing, going, or another pod's."""
    made = {entry.get("name"): entry.get("resourceClaimName") for entry in pod.status.get("resourceClaimStatuses", ())}
    found = []
    for reference in pod.spec.get("resourceClaims") or ():
        name = reference.get("resourceClaimName")
        is_generated = name is None
        if is_generated:
            if reference.get("name") not in made:
                return None
            name = made[reference["name"]]
            if name is None:
                continue
        claim = plugin.handle.cluster.get("ResourceClaim", name, pod.namespace)
        if claim is None or claim["metadata"].get("deletionTimestamp"):
            return None
        if is_generated and not _is_for(pod, claim):
            return None
        found.append(claim)
    return found


def _is_for(pod: PodInfo, claim: Document) -> bool:
    owners = claim["metadata"].get("ownerReferences") or ()
    return any(owner.get("controller") and owner.get("uid") == pod.uid for owner in owners)


HINTS: tuple[Requeue, ...] = (
    Requeue("Node", Action.ADD | Action.UPDATE_NODE_LABEL | Action.UPDATE_NODE_ALLOCATABLE),
    Requeue("ResourceClaim", Action.ADD | Action.UPDATE, claim_changed),
    Requeue("Pod", Action.UPDATE_POD_GENERATED_CLAIM, own_claims_are_there),
    Requeue("DeviceClass", Action.ADD | Action.UPDATE),
    Requeue("ResourceSlice", Action.ADD | Action.UPDATE),
)
