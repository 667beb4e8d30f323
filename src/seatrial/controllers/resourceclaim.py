"""ResourceClaims: made from templates for the pods that ask, and given back when their users are gone.

Upstream: pkg/controller/resourceclaim (v1.36).
"""

from collections.abc import Iterable, Mapping
from typing import ClassVar

from seatrial.controllers.controller import Context, Key, Listener, QueueController
from seatrial.controllers.metadata import drop_finalizer
from seatrial.controllers.owning import controller_of, controller_reference
from seatrial.controllers.pods import PodRow
from seatrial.model.documents import Document
from seatrial.model.errors import NotFound
from seatrial.model.kinds import Kind
from seatrial.store.objects import Change

POD_CLAIM_NAME = "resource.kubernetes.io/pod-claim-name"
FINALIZER = "resource.kubernetes.io/delete-protection"
POD = "pod:"
"""Keys of pods carry this before the namespace, those of claims do not."""


class ResourceClaim(QueueController):
    """Looks after claims and after the pods that need one made."""

    name: ClassVar[str] = "resourceclaim"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.kind = context.kind("resource.k8s.io/v1", "ResourceClaim")
        self._templates = context.kind("resource.k8s.io/v1", "ResourceClaimTemplate")
        self._pods = context.kind("v1", "Pod")

    def watches(self) -> Mapping[Kind, Listener]:
        return {self.kind: self.enqueue_changed, self._pods: self._pod_changed, self._templates: self._template_changed}

    def owners(self) -> Iterable[Kind]:
        return [self.kind]

    def start(self) -> None:
        super().start()
        for stored in self.store.list(self._pods):
            if b'"resourceClaims"' in stored.data:
                self.enqueue((POD + stored.namespace, stored.name))

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
        for stored in self.store.list(self.kind, meta["namespace"]):
            claim = stored.document()
            notes = claim["metadata"].get("annotations", {})
            if (controller_of(claim) or {}).get("uid") == meta["uid"] and notes.get(POD_CLAIM_NAME) == name:
                return stored.name
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
        status = claim.get("status", {})
        users = status.get("reservedFor", [])
        valid = [user for user in users if self._is_using(namespace, user)]
        if len(valid) < len(users):
            self._set_users(namespace, name, valid)
        is_unused = not valid and "allocation" not in self.store.get(self.kind, name, namespace).document().get(
            "status", {}
        )
        if is_unused and FINALIZER in claim["metadata"].get("finalizers", []):
            self.store.modify(
                self.kind,
                name,
                lambda document: drop_finalizer(document, FINALIZER),
                namespace=namespace,
                writer=self.name,
            )
        owner = controller_of(claim)
        if not valid and owner is not None and owner["kind"] == "Pod" and "deletionTimestamp" not in claim["metadata"]:
            pod = self.store.find(self._pods, owner["name"], namespace)
            if pod is not None and pod.document().get("status", {}).get("phase") in ("Succeeded", "Failed"):
                self._delete(namespace, name)

    def _set_users(self, namespace: str, name: str, users: list[Document]) -> None:
        """Without users the allocation goes too, so that the devices are free."""

        def change(document: Document) -> None:
            status = document["status"]
            status.pop("reservedFor", None)
            if users:
                status["reservedFor"] = users
            else:
                status.pop("allocation", None)

        self.store.modify(self.kind, name, change, namespace=namespace, subresource="status", writer=self.name)

    def _delete(self, namespace: str, name: str) -> None:
        try:
            self.store.delete(self.kind, name, namespace=namespace, writer=self.name)
        except NotFound:
            return

    def _is_using(self, namespace: str, user: Document) -> bool:
        if user.get("resource") != "pods" or user.get("apiGroup"):
            return True
        row: PodRow | None = self.context.pods.get(namespace, user["name"])
        if row is None or row.uid != user["uid"] or row.phase in ("Succeeded", "Failed"):
            return False
        return bool(row.node) or not row.is_deleting

    def _pod_changed(self, change: Change) -> None:
        if b'"resourceClaims"' not in change.stored.data:
            return
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


def _owner(pods: Kind, pod: Document) -> Document:
    """A claim does not hold up the deletion of its pod."""
    reference = controller_reference(pods, pod)
    del reference["blockOwnerDeletion"]
    return reference
