"""The scheduler's view of a store, and the writes of plugins.

Documents are decoded when a plugin first reads them and kept until they change; a cluster without volumes never decodes
one. Pods and nodes change with every attempt and few plugins read them as documents: they are read from
the store each time.
"""

from bisect import insort
from collections.abc import Sequence

from seatrial.model.documents import Document
from seatrial.model.kinds import Kind, Kinds
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.store import Change, Store, Stored

WRITER = "scheduler"
_VERSIONS = {
    "ConfigMap": "v1",
    "Namespace": "v1",
    "Node": "v1",
    "PersistentVolume": "v1",
    "PersistentVolumeClaim": "v1",
    "Pod": "v1",
    "ReplicationController": "v1",
    "ResourceQuota": "v1",
    "Service": "v1",
    "ReplicaSet": "apps/v1",
    "StatefulSet": "apps/v1",
    "PodDisruptionBudget": "policy/v1",
    "CSIDriver": "storage.k8s.io/v1",
    "CSINode": "storage.k8s.io/v1",
    "CSIStorageCapacity": "storage.k8s.io/v1",
    "StorageClass": "storage.k8s.io/v1",
    "VolumeAttachment": "storage.k8s.io/v1",
    "DeviceClass": "resource.k8s.io/v1",
    "DeviceTaintRule": "resource.k8s.io/v1",
    "ResourceClaim": "resource.k8s.io/v1",
    "ResourceSlice": "resource.k8s.io/v1",
}
"""The kinds the scheduler reads, in the version it reads them."""
_NOT_KEPT = frozenset(("Pod", "Node", "ConfigMap"))
"""Kinds that are read from the store each time."""
_SELECTING = frozenset(("ReplicationController", "ReplicaSet", "Service", "StatefulSet"))
"""Kinds whose selectors say which pods belong together; their status says nothing to a scheduler."""


def is_served(kinds: Kinds, name: str) -> bool:
    """Whether the store's version of Kubernetes has a kind that the scheduler reads."""
    return kinds.named(_VERSIONS[name], name) is not None


def kind_named(kinds: Kinds, name: str) -> Kind:
    """The kind of that name; LookupError where the store does not serve it."""
    return kinds.served(_VERSIONS[name], name)


class _KindIndex:
    """The objects of one kind, each decoded when it is read."""

    def __init__(self, store: Store, kind: Kind) -> None:
        self._found: dict[tuple[str, str], Document | Stored] = {
            (stored.namespace, stored.name): stored for stored in store.list(kind)
        }
        self.order = sorted(self._found)

    def get(self, key: tuple[str, str]) -> Document | None:
        found = self._found.get(key)
        if isinstance(found, Stored):
            found = self._found[key] = found.document()
        return found

    def put(self, key: tuple[str, str], stored: Stored) -> None:
        if key not in self._found:
            insort(self.order, key)
        self._found[key] = stored

    def drop(self, key: tuple[str, str]) -> None:
        if self._found.pop(key, None) is not None:
            self.order.remove(key)


class StoreCluster:
    """Objects of a store by kind name; implements `cluster.Cluster`."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._indexes: dict[str, _KindIndex] = {}
        self._versions: dict[str, int] = {}
        self.changes = 0
        """How many changes there were so far."""

    def list(self, kind: str, namespace: str | None = None) -> Sequence[Document]:
        """All objects of a kind, of one namespace or of all, in the order of namespace and name."""
        if not is_served(self._store.kinds, kind):
            return ()
        if kind in _NOT_KEPT:
            listed = self._store.list(kind_named(self._store.kinds, kind), namespace or "")
            return [stored.document() for stored in sorted(listed, key=lambda one: (one.namespace, one.name))]
        index = self._index(kind)
        keys = index.order if namespace is None else [key for key in index.order if key[0] == namespace]
        return [document for key in keys if (document := index.get(key)) is not None]

    def get(self, kind: str, name: str, namespace: str = "") -> Document | None:
        """One object, or None."""
        if kind in _NOT_KEPT:
            stored = self._store.find(kind_named(self._store.kinds, kind), name, namespace)
            return None if stored is None else stored.document()
        index = self._indexes.get(kind) or self._index(kind)
        return index.get((namespace, name))

    def version(self, kind: str) -> int:
        """A number that grows whenever an object of the kind changes; a workload's status apart."""
        return self._store.revision if kind in _NOT_KEPT else self._versions.get(kind, 0)

    def apply(self, change: Change) -> None:
        """Take a change of the store in."""
        name = change.stored.kind.kind
        self.changes += 1
        if change.subresource != "status" or name not in _SELECTING:
            self._versions[name] = change.stored.revision
        index = self._indexes.get(name)
        if index is None:
            return
        key = (change.stored.namespace, change.stored.name)
        if change.type == "DELETED":
            index.drop(key)
        else:
            index.put(key, change.stored)

    def _index(self, kind: str) -> _KindIndex:
        index = self._indexes.get(kind)
        if index is None:
            index = self._indexes[kind] = _KindIndex(self._store, kind_named(self._store.kinds, kind))
        return index


class StoreClient:
    """The writes of plugins, into the store; implements `cluster.Client`."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def bind(self, pod: PodInfo, node: str) -> None:
        """Binds the pod to the node."""
        self._store.bind(pod.namespace, pod.name, node, writer=WRITER, uid=pod.uid)

    def update(self, kind: str, document: Document, subresource: str = "") -> Document:
        """Replaces an object and answers with what is stored now."""
        named = kind_named(self._store.kinds, kind)
        namespace = document["metadata"].get("namespace", "")
        stored = self._store.update(named, document, writer=WRITER, namespace=namespace, subresource=subresource)
        return stored.document()

    def create(self, kind: str, document: Document) -> Document:
        """Creates an object."""
        named = kind_named(self._store.kinds, kind)
        namespace = document["metadata"].get("namespace", "")
        return self._store.create(named, document, writer=WRITER, namespace=namespace).document()

    def delete(self, kind: str, name: str, namespace: str = "") -> None:
        """Deletes an object."""
        self._store.delete(kind_named(self._store.kinds, kind), name, writer=WRITER, namespace=namespace)
