"""ServiceAccounts: every live namespace has its `default` one.

Upstream: pkg/controller/serviceaccount (v1.36).
"""

from collections.abc import Iterable, Mapping
from typing import ClassVar

from seatrial.controllers.framework.controller import Context, Key, Listener, QueueController
from seatrial.model.errors import AlreadyExists
from seatrial.model.kinds import Kind
from seatrial.store import Change


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
