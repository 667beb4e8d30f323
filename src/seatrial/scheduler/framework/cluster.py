"""What plugins may read apart from nodes and pods, and what they may write.

The scheduler reads the store in a run and plain documents in golden replay; both are an `ObjectLister`. Writes go
through a `Client`, so that a plugin does not depend on the store.
"""

from collections.abc import Collection, Sequence
from typing import Protocol

from seatrial.model.documents import Document
from seatrial.scheduler.cache.pod_info import PodInfo


class ObjectLister(Protocol):
    """Read access to objects by kind name ("Service", "PersistentVolumeClaim", "ResourceClaim", ...).

    The documents are shared and must not be changed.
    """

    @property
    def changes(self) -> int:
        """A number that grows whenever an object changes that is neither a pod nor a node."""
        ...

    def list(self, kind: str, namespace: str | None = None) -> Sequence[Document]:
        """All objects of a kind, of one namespace or of all, in the order of namespace and name."""
        ...

    def get(self, kind: str, name: str, namespace: str = "") -> Document | None:
        """One object, or None."""
        ...

    def version(self, kind: str) -> int:
        """A number that grows whenever an object of the kind changes: the key of whatever is derived from them.

        It does not grow with the status of a Service or of a workload.
        """
        ...


class Client(Protocol):
    """The writes of plugins. Each raises a StatusError as the API server would."""

    def bind(self, pod: PodInfo, node: str) -> None:
        """Binds the pod to the node."""
        ...

    def update(self, kind: str, document: Document, subresource: str = "") -> Document:
        """Replaces an object and answers with what is stored now."""
        ...

    def create(self, kind: str, document: Document) -> Document:
        """Creates an object."""
        ...

    def delete(self, kind: str, name: str, namespace: str = "") -> None:
        """Deletes an object."""
        ...


class Nominator(Protocol):
    """Which pods are nominated to run on which node after a preemption."""

    def nominated_to(self, node: str) -> Sequence[PodInfo]:
        """The pods nominated to a node, in order of nomination."""
        ...

    def nominated_nodes(self) -> Collection[str]:
        """The nodes that have nominated pods."""
        ...

    @property
    def changes(self) -> int:
        """The number of nominations made and withdrawn so far."""
        ...

    def changed_since(self, changes: int) -> Sequence[str] | None:
        """The nodes whose nominated pods have changed since `changes` was that number; None if it is too long ago."""
        ...

    def node_of(self, pod: PodInfo) -> str:
        """The node a pod is nominated to, or an empty text."""
        ...


class EmptyLister:
    """A cluster with nothing but nodes and pods."""

    changes = 0

    def list(self, kind: str, namespace: str | None = None) -> Sequence[Document]:
        return ()

    def get(self, kind: str, name: str, namespace: str = "") -> Document | None:
        return None

    def version(self, kind: str) -> int:
        return 0
