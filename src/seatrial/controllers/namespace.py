"""Namespaces: a terminating one is emptied and then let go; every live one has its default ServiceAccount.

Upstream: pkg/controller/namespace, pkg/controller/serviceaccount (v1.36).
"""

from collections.abc import Iterable, Mapping
from typing import ClassVar

from seatrial.controllers.controller import Context, Key, Listener, QueueController
from seatrial.model.documents import Document
from seatrial.model.errors import AlreadyExists, NotFound
from seatrial.model.kinds import Kind
from seatrial.store.objects import Change
from seatrial.store.options import DeleteOptions


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
        self._unsubscribe.append(self.store.subscribe(self._left))

    def sync(self, key: Key) -> None:
        stored = self.store.find(self.kind, key[1])
        if stored is None or "deletionTimestamp" not in stored.document()["metadata"]:
            return
        remaining = False
        for kind in self._kinds():
            for item in self.store.list(kind, stored.name):
                remaining = self._delete(kind, item.namespace, item.name) or remaining
        if not remaining:
            self._finalize(stored.name)

    def _kinds(self) -> list[Kind]:
        """Namespaced kinds, each once; pods first, so that what waits for them can go in the same sync."""
        chosen: dict[tuple[str, str], Kind] = {}
        for kind in self.store.kinds:
            if kind.namespaced and "delete" in kind.verbs:
                chosen.setdefault(kind.group_kind, kind)
        return sorted(chosen.values(), key=lambda kind: kind.group_kind != ("", "Pod"))

    def _delete(self, kind: Kind, namespace: str, name: str) -> bool:
        """True if the object is still there afterwards."""
        options = DeleteOptions(propagation_policy="Background")
        try:
            return self.store.delete(kind, name, namespace=namespace, writer=self.name, options=options) is not None
        except NotFound:
            return False

    def _finalize(self, name: str) -> None:
        def change(document: Document) -> None:
            finalizers = [f for f in document["spec"].pop("finalizers", []) if f != "kubernetes"]
            if finalizers:
                document["spec"]["finalizers"] = finalizers

        self.store.modify(self.kind, name, change, subresource="finalize", writer=self.name)

    def _left(self, change: Change) -> None:
        """An object has left a namespace that may be waiting for just that."""
        if change.type == "DELETED" and change.stored.namespace:
            namespace = self.store.find(self.kind, change.stored.namespace)
            if namespace is not None and b'"deletionTimestamp"' in namespace.data:
                self.enqueue(("", change.stored.namespace))


class ServiceAccount(QueueController):
    """Keeps a ServiceAccount `default` in every namespace."""

    name: ClassVar[str] = "serviceaccount"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._namespaces = context.kind("v1", "Namespace")
        self.kind = context.kind("v1", "ServiceAccount")

    def watches(self) -> Mapping[Kind, Listener]:
        return {self._namespaces: self.enqueue_changed, self.kind: self._account_changed}

    def owners(self) -> Iterable[Kind]:
        return [self._namespaces]

    def sync(self, key: Key) -> None:
        stored = self.store.find(self._namespaces, key[1])
        if stored is None or "deletionTimestamp" in stored.document()["metadata"]:
            return
        if self.store.find(self.kind, "default", stored.name) is not None:
            return
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
        try:
            self.store.create(self.kind, account, namespace=stored.name, writer=self.name)
        except AlreadyExists:
            return

    def _account_changed(self, change: Change) -> None:
        if change.type == "DELETED" and change.stored.name == "default":
            self.enqueue(("", change.stored.namespace))
