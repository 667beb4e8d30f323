"""The scheduler's copy of the cluster: what the store holds, kept up to date by its changes.

Upstream: pkg/scheduler/cache (cache.go, event_handlers.go).
"""

from collections.abc import Callable
from typing import Final

from seatrial.model.documents import Document
from seatrial.model.kinds import Kind
from seatrial.scheduler import ANNOTATOR
from seatrial.scheduler.cache import PodInfo, PodReader, StoreCluster
from seatrial.store import Change, Store, Stored
from seatrial.volcano.apis import HYPER_NODE, NUMATOPOLOGY, POD_GROUP, QUEUE, SCHEDULER_NAME, kind_of
from seatrial.volcano.cache.cluster_info import ClusterInfo, take_snapshot
from seatrial.volcano.cache.node_info import NodeFacts
from seatrial.volcano.cache.numa_info import Numatopologies
from seatrial.volcano.cache.task_info import PodScheduled, TaskInfo

WRITER: Final = SCHEDULER_NAME
PRIORITY_CLASS = ("scheduling.k8s.io/v1", "PriorityClass")
_OTHERS: Final = {
    "Namespace": "v1",
    "PersistentVolume": "v1",
    "PersistentVolumeClaim": "v1",
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
    "ResourceClaim": "resource.k8s.io/v1",
    "ResourceSlice": "resource.k8s.io/v1",
}
"""Kinds that only plugins read."""


class SchedulerCache:
    """Nodes in the order they came, pods, and the objects of Volcano by name."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._reader = PodReader()
        self._nodes: dict[str, NodeFacts] = {}
        self._pods: dict[str, tuple[PodInfo, Stored]] = {}
        self._unread_pods: dict[str, Stored] = {}
        """Pods that changed since the last session, by key: only their last state is decoded."""
        self._objects: dict[tuple[str, str], dict[tuple[str, str], Document]] = {}
        self._unread_groups: dict[tuple[str, str], Stored] = {}
        """The same of PodGroups."""
        self.written_conditions: dict[str, PodScheduled] = {}
        """What the scheduler last wrote into the PodScheduled condition of pods, by uid."""
        self._numatopologies = Numatopologies()
        self.cluster = StoreCluster(store)
        self.on_change: Callable[[], None] = lambda: None
        """Called when something has changed that the next session may decide by."""
        self._unsubscribe: Callable[[], None] | None = None

    def start(self) -> None:
        """Reads all objects, and subscribes to their changes."""
        store = self._store
        self._node_kind, self._pod_kind = self._kind("v1", "Node"), self._kind("v1", "Pod")
        for stored in store.list(self._node_kind):
            self._nodes[stored.name] = NodeFacts.read(stored.document())
        for stored in store.list(self._pod_kind):
            self._pods[_key(stored)] = (self._reader.decode(stored.data), stored)
        own = [POD_GROUP, QUEUE, HYPER_NODE, PRIORITY_CLASS]
        for named in own:
            kind = kind_of(store, named)
            self._objects[named] = {(s.namespace, s.name): s.document() for s in store.list(kind)}
        for stored in store.list(kind_of(store, NUMATOPOLOGY)):
            self._numatopologies.report(stored.document())
        kinds = [self._node_kind, self._pod_kind, *(kind_of(store, named) for named in (*own, NUMATOPOLOGY))]
        kinds += [self._kind(version, name) for name, version in _OTHERS.items()]
        self._unsubscribe = store.subscribe(self._changed, kinds)

    def stop(self) -> None:
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None
        self._nodes.clear()
        self._pods.clear()
        self._unread_pods.clear()
        self._objects.clear()
        self._unread_groups.clear()
        self.written_conditions.clear()
        self._numatopologies = Numatopologies()

    def has_pending(self) -> bool:
        """Whether a pod of Volcano's waits for a node."""
        self._read()
        return any(
            not pod.node and not pod.deleting and pod.phase == "Pending" and pod.shape.scheduler_name == SCHEDULER_NAME
            for pod, _ in self._pods.values()
        )

    def snapshot(self, now: int) -> ClusterInfo:
        """The cluster for one session."""
        self._read()
        written = self.written_conditions
        tasks = [
            TaskInfo(pod, stored, written.get(pod.uid))
            for pod, stored in self._pods.values()
            if pod.node or pod.shape.scheduler_name == SCHEDULER_NAME
        ]
        objects = self._objects
        return take_snapshot(
            self._nodes.values(),
            tasks,
            objects[POD_GROUP].values(),
            objects[QUEUE].values(),
            objects[PRIORITY_CLASS].values(),
            objects[HYPER_NODE].values(),
            self.cluster,
            now,
            self._numatopologies,
        )

    def _kind(self, version: str, name: str) -> Kind:
        return self._store.kinds.served(version, name)

    def _changed(self, change: Change) -> None:
        stored = change.stored
        is_gone = change.type == "DELETED"
        named = (stored.kind.api_version, stored.kind.kind)
        if stored.kind.kind == "Pod":
            self._pod_changed(stored, is_gone)
        elif stored.kind.kind == "Node":
            self._node_changed(stored, is_gone)
        elif named == NUMATOPOLOGY:
            self._numatopology_changed(stored, is_gone)
        elif named == POD_GROUP:
            self._group_changed(stored, is_gone)
        elif named in self._objects:
            if is_gone:
                self._objects[named].pop((stored.namespace, stored.name), None)
            else:
                self._objects[named][stored.namespace, stored.name] = stored.document()
        else:
            self.cluster.apply(change)
        if change.writer not in (WRITER, ANNOTATOR):
            self.on_change()

    def _pod_changed(self, stored: Stored, is_gone: bool) -> None:
        key = _key(stored)
        if is_gone:
            self._unread_pods.pop(key, None)
            known = self._pods.pop(key, None)
            if known is not None:
                self.written_conditions.pop(known[0].uid, None)
        else:
            self._unread_pods[key] = stored

    def _group_changed(self, stored: Stored, is_gone: bool) -> None:
        key = stored.namespace, stored.name
        if is_gone:
            self._unread_groups.pop(key, None)
            self._objects[POD_GROUP].pop(key, None)
        else:
            self._unread_groups[key] = stored

    def _read(self) -> None:
        """Decodes what has changed."""
        for key, stored in self._unread_pods.items():
            self._pods[key] = (self._reader.decode(stored.data), stored)
        groups = self._objects[POD_GROUP]
        for place, stored in self._unread_groups.items():
            groups[place] = stored.document()
        self._unread_pods.clear()
        self._unread_groups.clear()

    def _numatopology_changed(self, stored: Stored, is_gone: bool) -> None:
        if is_gone:
            self._numatopologies.remove(stored.name)
        else:
            self._numatopologies.report(stored.document())

    def _node_changed(self, stored: Stored, is_gone: bool) -> None:
        if is_gone:
            self._nodes.pop(stored.name, None)
            self._numatopologies.remove(stored.name)
        else:
            self._nodes[stored.name] = NodeFacts.read(stored.document())


def _key(stored: Stored) -> str:
    return f"{stored.namespace}/{stored.name}"
