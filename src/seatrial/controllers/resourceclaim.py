"""ResourceClaim: creates claims from templates for pods, and deallocates them when no pod uses them.

Upstream: pkg/controller/resourceclaim (v1.36).
"""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import msgspec

from seatrial.controllers.framework.controller import Context, Key, Listener, QueueController
from seatrial.controllers.framework.pod_control import controller_of, controller_reference
from seatrial.controllers.framework.pod_row import PodRow
from seatrial.model.documents import Document
from seatrial.model.errors import NotFound
from seatrial.model.kinds import Kind
from seatrial.store import Change, Stored, View
from seatrial.store.registry import drop_finalizer

POD_CLAIM_NAME = "resource.kubernetes.io/pod-claim-name"
FINALIZER = "resource.kubernetes.io/delete-protection"
POD = "pod:"
"""Keys of pods carry this before the namespace, those of claims do not."""
WITHOUT_SPEC = frozenset({"status", "binding"})
"""Writes through these do not change which claims a pod has."""


class _Spec(msgspec.Struct, rename="camel"):
    resource_claims: list[Any] | None = None


class _Pod(msgspec.Struct):
    spec: _Spec


_HAS_CLAIMS = View(_Pod, lambda pod: bool(pod.spec.resource_claims))


class ResourceClaim(QueueController):
    """Reconciles claims, and pods whose claim must be created."""

    name: ClassVar[str] = "resourceclaim"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.kind = context.kind("resource.k8s.io/v1", "ResourceClaim")
        self._templates = context.kind("resource.k8s.io/v1", "ResourceClaimTemplate")
        self._pods = context.kind("v1", "Pod")
        self._made: dict[tuple[str, str], str] = {}
        """Claims made from templates, by the uid of their pod and the pod's name for them."""
        self._claimants: set[Key] = set()
        """The pods that have claims."""

    def watches(self) -> Mapping[Kind, Listener]:
        return {self.kind: self._claim_changed, self._pods: self._pod_changed, self._templates: self._template_changed}

    def owners(self) -> Iterable[Kind]:
        return [self.kind]

    def start(self) -> None:
        super().start()
        for stored in self.store.list(self.kind):
            self._note(stored)
        for stored in self.store.list(self._pods):
            if _HAS_CLAIMS.read(stored):
                self._claimants.add((stored.namespace, stored.name))
                self.enqueue((POD + stored.namespace, stored.name))

    def stop(self) -> None:
        super().stop()
        self._made.clear()
        self._claimants.clear()

    def sync(self, key: Key) -> None:
        if key[0].startswith(POD):
            self._sync_pod(key[0].removeprefix(POD), key[1])
        else:
            self._sync_claim(*key)

    def _sync_pod(self, namespace: str, name: str) -> None:
        stored = self.store.find(self._pods, name, namespace)
        if stored is None:
            return
        pod = stored.document()
        if "deletionTimestamp" in pod["metadata"] or pod.get("status", {}).get("phase") in ("Succeeded", "Failed"):
            return
        known = {item["name"]: item for item in pod.get("status", {}).get("resourceClaimStatuses", [])}
        for wanted in pod["spec"].get("resourceClaims", []):
            template = wanted.get("resourceClaimTemplateName")
            if template is not None and wanted["name"] not in known:
                claim = self._find_or_make(pod, wanted["name"], template)
                known[wanted["name"]] = {"name": wanted["name"], "resourceClaimName": claim}

        def change(document: Document) -> None:
            if known:
                document.setdefault("status", {})["resourceClaimStatuses"] = list(known.values())

        self.store.modify(self._pods, name, change, namespace=namespace, subresource="status", writer=self.name)

    def _find_or_make(self, pod: Document, name: str, template: str) -> str:
        meta = pod["metadata"]
        made = self._made.get((meta["uid"], name))
        if made is not None:
            return made
        source = self.store.get(self._templates, template, meta["namespace"]).document()["spec"]
        labels = source.get("metadata", {}).get("labels")
        claim_meta: Document = {
            "generateName": f"{meta['name']}-{name}-",
            "annotations": source.get("metadata", {}).get("annotations", {}) | {POD_CLAIM_NAME: name},
            "ownerReferences": [_owner(self._pods, pod)],
        }
        if labels:
            claim_meta["labels"] = labels
        document = {
            "apiVersion": self.kind.api_version,
            "kind": self.kind.kind,
            "metadata": claim_meta,
            "spec": source["spec"],
        }
        return self.store.create(self.kind, document, namespace=meta["namespace"], writer=self.name).name

    def _sync_claim(self, namespace: str, name: str) -> None:
        stored = self.store.find(self.kind, name, namespace)
        if stored is None:
            return
        claim = stored.document()
        meta, users = claim["metadata"], claim.get("status", {}).get("reservedFor", [])
        remaining = [user for user in users if self._is_using(namespace, user)]
        is_ours = FINALIZER in meta.get("finalizers", [])
        is_let_go = len(remaining) < len(users) or (is_ours and "deletionTimestamp" in meta and not remaining)
        if is_let_go:
            self._set_users(namespace, name, remaining, free=is_ours and not remaining)
        if is_let_go and is_ours and not remaining:
            self._release(namespace, name)
        owner = controller_of(claim)
        if not remaining and owner is not None and owner["kind"] == "Pod":
            row = self.context.pods.get(namespace, owner["name"])
            if row is not None and (row.uid != owner["uid"] or _is_done(row)):
                self._delete(namespace, name)

    def _set_users(self, namespace: str, name: str, users: list[Document], *, free: bool) -> None:
        """Set reservedFor; without users the allocation is removed too, so that the devices are free."""

        def change(document: Document) -> None:
            status = document.setdefault("status", {})
            status.pop("reservedFor", None)
            if users:
                status["reservedFor"] = users
            if free:
                status.pop("allocation", None)

        self.store.modify(self.kind, name, change, namespace=namespace, subresource="status", writer=self.name)

    def _release(self, namespace: str, name: str) -> None:
        self.store.modify(
            self.kind,
            name,
            lambda document: drop_finalizer(document, FINALIZER),
            namespace=namespace,
            writer=self.name,
        )

    def _delete(self, namespace: str, name: str) -> None:
        try:
            self.store.delete(self.kind, name, namespace=namespace, writer=self.name)
        except NotFound:
            return

    def _is_using(self, namespace: str, user: Document) -> bool:
        if user.get("resource") != "pods" or user.get("apiGroup"):
            return True
        row = self.context.pods.get(namespace, user["name"])
        return row is not None and row.uid == user["uid"] and not _is_done(row)

    def _claim_changed(self, change: Change) -> None:
        if change.type == "DELETED":
            self._made.pop(_pod_of(change.stored.document()), None)
        elif change.subresource != "status":
            self._note(change.stored)
        self.enqueue_changed(change)

    def _note(self, stored: Stored) -> None:
        pod = _pod_of(stored.document())
        if all(pod):
            self._made[pod] = stored.name

    def _pod_changed(self, change: Change) -> None:
        if change.subresource in WITHOUT_SPEC and not self._claimants:
            return
        key = change.stored.namespace, change.stored.name
        if change.subresource not in WITHOUT_SPEC:
            self._claimants.discard(key)
            if _HAS_CLAIMS.read(change.stored):
                self._claimants.add(key)
        if key not in self._claimants:
            return
        if change.type == "DELETED":
            self._claimants.remove(key)
        pod = change.stored.document()
        self.enqueue((POD + change.stored.namespace, change.stored.name))
        made = {item["name"]: item for item in pod.get("status", {}).get("resourceClaimStatuses", [])}
        for wanted in pod["spec"].get("resourceClaims", []):
            name = wanted.get("resourceClaimName") or made.get(wanted["name"], {}).get("resourceClaimName")
            if name:
                self.enqueue((change.stored.namespace, name))

    def _template_changed(self, change: Change) -> None:
        for stored in self.store.list(self._pods, change.stored.namespace):
            if b'"resourceClaimTemplateName"' in stored.data:
                self.enqueue((POD + stored.namespace, stored.name))


def _is_done(row: PodRow) -> bool:
    """Whether a pod has ended or will never be bound."""
    return row.phase in ("Succeeded", "Failed") or (row.is_deleting and not row.node)


def _pod_of(claim: Document) -> tuple[str, str]:
    """The uid of the pod that a claim was made for, and the pod's name for it; empty where it was not."""
    notes = claim["metadata"].get("annotations", {})
    return (controller_of(claim) or {}).get("uid", ""), notes.get(POD_CLAIM_NAME, "")


def _owner(pods: Kind, pod: Document) -> Document:
    """The owner reference to the pod; it does not block the pod's deletion."""
    reference = controller_reference(pods, pod)
    del reference["blockOwnerDeletion"]
    return reference
