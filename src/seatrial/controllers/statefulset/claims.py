"""The volume claims of a StatefulSet's pods: made from templates, and owned as the retention policy says.

Upstream: pkg/controller/statefulset/stateful_pod_control.go, stateful_set_utils.go (v1.36).
"""

from seatrial.controllers.framework.controller import Context
from seatrial.controllers.framework.pod_control import controller_reference
from seatrial.controllers.statefulset.ordinals import ordinals
from seatrial.model.documents import Document
from seatrial.model.kinds import Kind

RETAIN, DELETE = "Retain", "Delete"


class SetClaims:
    """Makes claims and keeps their owners."""

    def __init__(self, context: Context, kind: Kind, writer: str) -> None:
        self._store = context.store
        self._kind = kind
        self._claims = context.kind("v1", "PersistentVolumeClaim")
        self._pods = context.kind("v1", "Pod")
        self._writer = writer

    def make(self, owner: Document, ordinal: int) -> None:
        """Make the claims of one pod that are not there."""
        meta = owner["metadata"]
        for template in owner["spec"].get("volumeClaimTemplates", []):
            name = claim_name(template, owner, ordinal)
            if self._store.find(self._claims, name, meta["namespace"]) is not None:
                continue
            labels = template["metadata"].get("labels", {}) | owner["spec"]["selector"].get("matchLabels", {})
            claim_meta: Document = template["metadata"] | {"name": name}
            claim_meta.pop("creationTimestamp", None)
            if labels:
                claim_meta["labels"] = labels
            claim = {key: value for key, value in template.items() if key != "status"} | {"metadata": claim_meta}
            claim |= {"apiVersion": "v1", "kind": "PersistentVolumeClaim"}
            self._store.create(self._claims, claim, namespace=meta["namespace"], writer=self._writer)

    def own(self, owner: Document, ordinal: int, pod_name: str, pod_uid: str) -> None:
        """Set the owner of one pod's claims to the set, the pod or neither."""
        namespace = owner["metadata"]["namespace"]
        pod = {"metadata": {"name": pod_name, "uid": pod_uid}}
        wanted = self._wanted(owner, ordinal, pod)
        for template in owner["spec"].get("volumeClaimTemplates", []):
            stored = self._store.find(self._claims, claim_name(template, owner, ordinal), namespace)
            if stored is None:
                continue
            present: list[Document] = stored.document()["metadata"].get("ownerReferences", [])
            kept = [reference for reference in present if not self._is_ours(reference, owner, pod_name)]
            if any(reference.get("controller") for reference in kept) or present == kept + wanted:
                continue
            self._set_owners(stored.name, namespace, kept + wanted)

    def has_stale(self, owner: Document, ordinal: int, pod_name: str) -> bool:
        """Whether a claim is still owned by an earlier pod of this name, with which it will be deleted."""
        if _policy(owner)[0] == RETAIN:
            return False
        namespace = owner["metadata"]["namespace"]
        for template in owner["spec"].get("volumeClaimTemplates", []):
            stored = self._store.find(self._claims, claim_name(template, owner, ordinal), namespace)
            owners = stored.document()["metadata"].get("ownerReferences", []) if stored is not None else []
            if any(reference["kind"] == "Pod" and reference["name"] == pod_name for reference in owners):
                return True
        return False

    def _wanted(self, owner: Document, ordinal: int, pod: Document) -> list[Document]:
        when_scaled, when_deleted = _policy(owner)
        is_scaled_down = ordinal not in ordinals(owner)
        if when_scaled == DELETE and is_scaled_down:
            return [controller_reference(self._pods, pod)]
        if when_deleted == DELETE:
            return [controller_reference(self._kind, owner)]
        return []

    def _is_ours(self, reference: Document, owner: Document, pod_name: str) -> bool:
        own = reference["kind"], reference["name"]
        return own in ((self._kind.kind, owner["metadata"]["name"]), ("Pod", pod_name))

    def _set_owners(self, name: str, namespace: str, owners: list[Document]) -> None:
        def change(claim: Document) -> None:
            claim["metadata"].pop("ownerReferences", None)
            if owners:
                claim["metadata"]["ownerReferences"] = owners

        self._store.modify(self._claims, name, change, namespace=namespace, writer=self._writer)


def claim_name(template: Document, owner: Document, ordinal: int) -> str:
    return f"{template['metadata']['name']}-{owner['metadata']['name']}-{ordinal}"


def _policy(owner: Document) -> tuple[str, str]:
    """The retention policy of claims: when the set is scaled down, and when it is deleted."""
    policy = owner["spec"].get("persistentVolumeClaimRetentionPolicy") or {}
    return policy.get("whenScaled", RETAIN), policy.get("whenDeleted", RETAIN)
