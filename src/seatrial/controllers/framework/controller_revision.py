"""ControllerRevisions: the numbered history of templates of a StatefulSet or DaemonSet.

Upstream: pkg/controller/history (v1.36). The hash in a revision's name is ours, of the encoded template.
"""

from collections.abc import Callable
from typing import Any

from seatrial.controllers.deployment.template import template_hash
from seatrial.controllers.framework.controller import Context
from seatrial.controllers.framework.pod_control import controller_of, controller_reference
from seatrial.model.documents import Document, decode, encode_sorted
from seatrial.model.kinds import Kind
from seatrial.store import Change, Stored


class History:
    """The revisions of the objects of one kind."""

    def __init__(self, context: Context, kind: Kind, writer: str, hash_label: str) -> None:
        self._store = context.store
        self._kind = kind
        self._revisions = context.kind("apps/v1", "ControllerRevision")
        self._writer = writer
        self._hash_label = hash_label
        self._owned: dict[str, dict[str, Document]] = {}
        self._unsubscribe: Callable[[], None] | None = None

    def start(self) -> None:
        for stored in self._store.list(self._revisions):
            self._put(stored)
        self._unsubscribe = self._store.subscribe(self._changed, [self._revisions])

    def stop(self) -> None:
        if self._unsubscribe is not None:
            self._unsubscribe()
        self._owned.clear()

    def of(self, owner: Document) -> list[Document]:
        """The owner's revisions, oldest first."""
        ours = self._owned.get(owner["metadata"]["uid"], {}).values()
        return sorted(ours, key=lambda document: (document["revision"], document["metadata"]["name"]))

    def current(self, owner: Document, revisions: list[Document]) -> Document:
        """The revision of the owner's template as it is now: found, moved to the front, or new."""
        data = _data(owner)
        equal = [revision for revision in revisions if revision["data"] == data]
        number = revisions[-1]["revision"] + 1 if revisions else 1
        if equal and equal[-1] is revisions[-1]:
            return equal[-1]
        if equal:
            return self._renumber(equal[-1], number)
        return self._create(owner, data, number)

    def forget(self, owner: Document, revisions: list[Document], live: set[str]) -> None:
        """Delete the oldest unused revisions beyond the limit."""
        limit = owner["spec"].get("revisionHistoryLimit", 10)
        unused = [revision for revision in revisions if revision["metadata"]["name"] not in live]
        for revision in unused[: max(0, len(unused) - limit)]:
            meta = revision["metadata"]
            self._store.delete(self._revisions, meta["name"], namespace=meta["namespace"], writer=self._writer)

    def _changed(self, change: Change) -> None:
        if change.type == "DELETED":
            self._owned.get(_owner(change.stored.document()), {}).pop(change.stored.name, None)
        else:
            self._put(change.stored)

    def _put(self, stored: Stored) -> None:
        document = stored.document()
        self._owned.setdefault(_owner(document), {})[stored.name] = document

    def _renumber(self, revision: Document, number: int) -> Document:
        meta = revision["metadata"]

        def change(document: Document) -> None:
            document["revision"] = number

        return self._store.modify(
            self._revisions, meta["name"], change, namespace=meta["namespace"], writer=self._writer
        ).document()

    def _create(self, owner: Document, data: Document, number: int) -> Document:
        meta = owner["metadata"]
        hashed = template_hash(owner["spec"]["template"], owner.get("status", {}).get("collisionCount"))
        labels = owner["spec"]["template"].get("metadata", {}).get("labels", {})
        new_meta: dict[str, Any] = {
            "name": f"{meta['name'][:223]}-{hashed}",
            "labels": labels | {self._hash_label: hashed},
            "ownerReferences": [controller_reference(self._kind, owner)],
        }
        if meta.get("annotations"):
            new_meta["annotations"] = meta["annotations"]
        document = {
            "apiVersion": "apps/v1",
            "kind": "ControllerRevision",
            "metadata": new_meta,
            "data": data,
            "revision": number,
        }
        return self._store.create(
            self._revisions, document, namespace=meta["namespace"], writer=self._writer
        ).document()


def _owner(document: Document) -> str:
    return str((controller_of(document) or {}).get("uid", ""))


def _data(owner: Document) -> Document:
    """The patch that a revision keeps; its fields are in order, since clients compare the encoded form."""
    patch = {"spec": {"template": owner["spec"]["template"] | {"$patch": "replace"}}}
    ordered: Document = decode(encode_sorted(patch))
    return ordered


def template_of(revision: Document) -> Document:
    """The template that a revision keeps."""
    template: Document = revision["data"]["spec"]["template"]
    return {key: value for key, value in template.items() if key != "$patch"}
