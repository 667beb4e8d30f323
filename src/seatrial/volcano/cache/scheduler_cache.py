"""The scheduler's copy of the cluster: what the store holds, kept up to date by its changes.

Upstream: pkg/scheduler/cache (cache.go, event_handlers.go).
"""

from collections.abc import Callable
from typing import Final

from seatrial.model.documents import Document
from seatrial.model.kinds import Kind
from seatrial.scheduler import ANNOTATOR
from seatrial.scheduler.cache import PodInfo, PodReader, StoreCluster, replace_pod
from seatrial.store import Change, Store, Stored
from seatrial.volcano.apis import HYPER_NODE, NUMATOPOLOGY, POD_GROUP, QUEUE, SCHEDULER_NAME, kind_of
from seatrial.volcano.cache.cluster_info import ClusterInfo, Priorities, assembled
from seatrial.volcano.cache.job_cache import JobCache
from seatrial.volcano.cache.node_info import NodeFacts
from seatrial.volcano.cache.numa_info import Numatopologies
from seatrial.volcano.cache.task_info import TaskInfo

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

    def __init__(self, store: Store, *, keeps: bool = True) -> None:
        self._store = store
        self._keeps = keeps
        self._reader = PodReader()
        self._nodes: dict[str, NodeFacts] = {}
        self.cluster = StoreCluster(store)
        self._jobs = JobCache(self.cluster, keeps=keeps)
        self._unread_pods: dict[str, Stored] = {}
        """Pods that changed since the last session, by key: only their last state is decoded."""
        self._bound: dict[str, tuple[PodInfo, Stored]] = {}
        """Pods that the last session has bound, as they were bound."""
        self._objects: dict[tuple[str, str], dict[tuple[str, str], Document]] = {}
        self._unread_groups: dict[tuple[str, str], tuple[Stored, bool]] = {}
        """The same of PodGroups, with whether only their status has changed."""
        self._numatopologies = Numatopologies()
        self.on_change: Callable[[], None] = lambda: None
        """Called when something has changed that the next session may decide by."""
        self._unsubscribe: Callable[[], None] | None = None

    def start(self) -> None:
        """Reads all objects, and subscribes to their changes."""
        store = self._store
        self._node_kind, self._pod_kind = self._kind("v1", "Node"), self._kind("v1", "Pod")
        for stored in store.list(self._node_kind):
            self._nodes[stored.name] = self._facts(stored)
        for stored in store.list(self._pod_kind):
            self._jobs.put_pod(self._reader.of(stored), stored)
        for stored in store.list(kind_of(store, POD_GROUP)):
            self._jobs.put_group(stored)
        own = [QUEUE, HYPER_NODE, PRIORITY_CLASS]
        for named in own:
            kind = kind_of(store, named)
            self._objects[named] = {(s.namespace, s.name): s.document() for s in store.list(kind)}
        for stored in store.list(kind_of(store, NUMATOPOLOGY)):
            self._numatopologies.report(stored.document())
        kinds = [self._node_kind, self._pod_kind, *(kind_of(store, named) for named in (*own, POD_GROUP, NUMATOPOLOGY))]
        kinds += [self._kind(version, name) for name, version in _OTHERS.items()]
        self._unsubscribe = store.subscribe(self._changed, kinds)

    def stop(self) -> None:
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None
        self._nodes.clear()
        self._jobs = JobCache(self.cluster, keeps=self._keeps)
        self._unread_pods.clear()
        self._bound.clear()
        self._objects.clear()
        self._unread_groups.clear()
        self._numatopologies = Numatopologies()

    def has_pending(self) -> bool:
        """Whether a pod of Volcano's waits for a node."""
        self._read()
        return self._jobs.has_pending()

    def note_condition(self, uid: str, reason: str, message: str) -> None:
        """Remember what the scheduler wrote into the condition PodScheduled of a pod that is not scheduled."""
        self._jobs.written_conditions[uid] = ("False", reason, message)

    def note_binding(self, task: TaskInfo, stored: Stored) -> None:
        """Remember a pod as it was bound, so that it need not be decoded for that."""
        if not self._keeps:
            return
        pod = replace_pod(task.pod, node=task.node_name, nominated_node="", resource_version=str(stored.revision))
        if not task.pod_annotations:
            self._bound[pod.key] = self._reader.relabelled(pod, stored), stored

    def snapshot(self, now: int) -> ClusterInfo:
        """The cluster for one session."""
        self._read()
        objects = self._objects
        tasks, jobs = self._jobs.snapshot(Priorities.read(objects[PRIORITY_CLASS].values()))
        return assembled(
            self._nodes.values(),
            tasks,
            jobs,
            objects[QUEUE].values(),
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
            self._group_changed(change)
        elif named in self._objects:
            if is_gone:
                self._objects[named].pop((stored.namespace, stored.name), None)
            else:
                self._objects[named][stored.namespace, stored.name] = stored.document()
        else:
            self.cluster.apply(change)
            if stored.kind.kind == "CSINode" and stored.name in self._nodes:
                self._nodes[stored.name] = self._facts(self._store.get(self._node_kind, stored.name))
        if change.writer not in (WRITER, ANNOTATOR):
            self.on_change()

    def _pod_changed(self, stored: Stored, is_gone: bool) -> None:
        key = _key(stored)
        if is_gone:
            self._unread_pods.pop(key, None)
            self._jobs.remove_pod(key)
            self._numatopologies.remove_pod(stored.uid)
        else:
            self._unread_pods[key] = stored

    def _group_changed(self, change: Change) -> None:
        key = change.stored.namespace, change.stored.name
        if change.type == "DELETED":
            self._unread_groups.pop(key, None)
            self._jobs.remove_group(*key)
            return
        only_status = change.subresource == "status" and self._unread_groups.get(key, (None, True))[1]
        self._unread_groups[key] = change.stored, only_status

    def _read(self) -> None:
        """Decodes what has changed."""
        for key, stored in self._unread_pods.items():
            self._jobs.put_pod(self._pod(key, stored), stored)
        for stored, only_status in self._unread_groups.values():
            self._jobs.put_group(stored, only_status=only_status)
        self._unread_pods.clear()
        self._unread_groups.clear()
        self._bound.clear()

    def _pod(self, key: str, stored: Stored) -> PodInfo:
        """A changed pod; where only its status has changed, not its node, no more than that is decoded."""
        known = self._bound.get(key) or self._jobs.known(key)
        if known is not None:
            pod, previous = known
            if previous is stored:
                return pod
            is_there = previous.node_name == stored.node_name
            if is_there and (fresh := self._reader.with_status(pod, stored, previous)) is not None:
                return fresh
        return self._reader.of(stored)

    def _numatopology_changed(self, stored: Stored, is_gone: bool) -> None:
        if is_gone:
            self._numatopologies.remove(stored.name)
        else:
            self._numatopologies.report(stored.document())

    def _node_changed(self, stored: Stored, is_gone: bool) -> None:
        if is_gone:
            self._nodes.pop(stored.name, None)
            self._numatopologies.remove_node(stored.name)
        else:
            self._nodes[stored.name] = self._facts(stored)

    def _facts(self, stored: Stored) -> NodeFacts:
        return NodeFacts.read(stored.document(), self.cluster.get("CSINode", stored.name))


def _key(stored: Stored) -> str:
    return f"{stored.namespace}/{stored.name}"
