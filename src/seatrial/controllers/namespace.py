"""Namespace: deletes the content of a terminating namespace, pods first, then removes its finalizer.

Upstream: pkg/controller/namespace (v1.36).
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import ClassVar

from seatrial.controllers.framework.controller import Context, Key, Listener, QueueController
from seatrial.model.documents import Document
from seatrial.model.errors import NotFound
from seatrial.model.kinds import Kind
from seatrial.model.times import to_time
from seatrial.store import Change, Stored
from seatrial.store.options import DeleteOptions

FINE = {
    "NamespaceDeletionDiscoveryFailure": ("ResourcesDiscovered", "All resources successfully discovered"),
    "NamespaceDeletionGroupVersionParsingFailure": ("ParsedGroupVersions", "All legacy kube types successfully parsed"),
    "NamespaceDeletionContentFailure": (
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
    "NamespaceContentRemaining": ("ContentRemoved", "All content successfully removed"),
    "NamespaceFinalizersRemaining": ("ContentHasNoFinalizers", "All content-preserving finalizers finished"),
}


class Namespace(QueueController):
    """Empties namespaces that are being deleted."""

    name: ClassVar[str] = "namespace"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.kind = context.kind("v1", "Namespace")

    def watches(self) -> Mapping[Kind, Listener]:
        return {self.kind: self.enqueue_changed}

    def owners(self) -> Iterable[Kind]:
        return [self.kind]

    def start(self) -> None:
        super().start()
        self._unsubscribe.append(self.store.subscribe(self._left, types=["DELETED"]))

    def sync(self, key: Key) -> None:
        stored = self.store.find(self.kind, key[1])
        if stored is None:
            return
        namespace = stored.document()
        if "deletionTimestamp" not in namespace["metadata"] or not namespace["spec"].get("finalizers"):
            return
        pods, others = self._kinds()
        if self._delete_all(pods, stored.name):
            self._write_conditions(stored.name, [])
            return
        remaining = [item for kind in others for item in self._delete_all(kind, stored.name)]
        self._write_conditions(stored.name, remaining)
        if not remaining:
            self._finalize(stored.name)

    def _kinds(self) -> tuple[Kind, list[Kind]]:
        """Pods, and all other namespaced kinds, each once."""
        chosen: dict[tuple[str, str], Kind] = {}
        for kind in self.store.kinds:
            if kind.namespaced and "delete" in kind.verbs:
                chosen.setdefault(kind.group_kind, kind)
        return chosen.pop(("", "Pod")), list(chosen.values())

    def _delete_all(self, kind: Kind, namespace: str) -> list[Stored]:
        """Delete everything of a kind; what is still there."""
        options = DeleteOptions(propagation_policy="Background")
        remaining = []
        for item in self.store.list(kind, namespace):
            try:
                left = self.store.delete(kind, item.name, namespace=namespace, writer=self.name, options=options)
            except NotFound:
                continue
            if left is not None:
                remaining.append(left)
        return remaining

    def _write_conditions(self, name: str, remaining: list[Stored]) -> None:
        troubles = _troubles(remaining)

        def change(document: Document) -> None:
            status = document.setdefault("status", {})
            present = {condition["type"]: condition for condition in status.get("conditions", [])}
            for kind, fine in FINE.items():
                reason, message = troubles.get(kind, fine)
                wanted = "True" if kind in troubles else "False"
                known = present.get(kind, {})
                moved = known.get("status") != wanted
                since = to_time(self.clock.now()) if moved else known["lastTransitionTime"]
                present[kind] = {
                    "type": kind,
                    "status": wanted,
                    "lastTransitionTime": since,
                    "reason": reason,
                    "message": message,
                }
            status["conditions"] = list(present.values())

        self.store.modify(self.kind, name, change, subresource="status", writer=self.name)

    def _finalize(self, name: str) -> None:
        def change(document: Document) -> None:
            finalizers = [f for f in document["spec"].pop("finalizers", []) if f != "kubernetes"]
            if finalizers:
                document["spec"]["finalizers"] = finalizers

        self.store.modify(self.kind, name, change, subresource="finalize", writer=self.name)

    def _left(self, change: Change) -> None:
        """Enqueue the namespace of a deleted object, which may have been the last one in it."""
        if change.stored.namespace:
            namespace = self.store.find(self.kind, change.stored.namespace)
            if namespace is not None and b'"deletionTimestamp"' in namespace.data:
                self.enqueue(("", change.stored.namespace))


def _troubles(remaining: list[Stored]) -> dict[str, tuple[str, str]]:
    """The conditions that are not fine, with reason and message."""
    if not remaining:
        return {}
    kinds = Counter(f"{stored.kind.plural}.{stored.kind.group}" for stored in remaining)
    listed = ", ".join(sorted(f"{name} has {count} resource instances" for name, count in kinds.items()))
    troubles = {"NamespaceContentRemaining": ("SomeResourcesRemain", f"Some resources are remaining: {listed}")}
    finalizers = Counter(
        finalizer for stored in remaining for finalizer in stored.document()["metadata"].get("finalizers", [])
    )
    if finalizers:
        listed = ", ".join(sorted(f"{name} in {count} resource instances" for name, count in finalizers.items()))
        text = f"Some content in the namespace has finalizers remaining: {listed}"
        troubles["NamespaceFinalizersRemaining"] = "SomeFinalizersRemain", text
    return troubles
