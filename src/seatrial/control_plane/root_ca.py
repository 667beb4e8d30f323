"""Publishes the server's certificate authority: ConfigMap kube-root-ca.crt in every namespace.

Upstream: pkg/controller/certificates/rootcacertpublisher.
"""

from collections.abc import Iterable, Mapping
from typing import ClassVar

from seatrial.controllers.framework import Context, Key, Listener, QueueController
from seatrial.model.errors import AlreadyExists
from seatrial.model.kinds import Kind
from seatrial.store import Change

NAME = "kube-root-ca.crt"
DESCRIPTION = "Certificates to verify the API server with, under its address inside the cluster."


class RootCaPublisher(QueueController):
    """Keeps the ConfigMap as it should be in every live namespace."""

    name: ClassVar[str] = "rootcacertpublisher"
    reads_pods: ClassVar[bool] = False

    def __init__(self, context: Context, authority: str) -> None:
        super().__init__(context)
        self._namespaces = context.kind("v1", "Namespace")
        self.kind = context.kind("v1", "ConfigMap")
        self._data = {"ca.crt": authority}

    def watches(self) -> Mapping[Kind, Listener]:
        return {self._namespaces: self.enqueue_changed, self.kind: self._changed}

    def owners(self) -> Iterable[Kind]:
        return [self._namespaces]

    def sync(self, key: Key) -> None:
        namespace = self.store.find(self._namespaces, key[1])
        if namespace is None or "deletionTimestamp" in namespace.document()["metadata"]:
            return
        found = self.store.find(self.kind, NAME, namespace.name)
        if found is None:
            metadata = {"name": NAME, "annotations": {"kubernetes.io/description": DESCRIPTION}}
            document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": self._data}
            try:
                self.store.create(self.kind, document, namespace=namespace.name, writer=self.name)
            except AlreadyExists:
                return
        elif found.document().get("data") != self._data:
            self.store.modify(
                self.kind,
                NAME,
                lambda document: document.update(data=dict(self._data)),
                namespace=namespace.name,
                writer=self.name,
            )

    def _changed(self, change: Change) -> None:
        if change.stored.name == NAME:
            self.enqueue(("", change.stored.namespace))
