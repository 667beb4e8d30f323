"""What the scheduler makes of changes in the store: its table of nodes and pods, and events for the queue.

Upstream: pkg/scheduler/eventhandlers.go and backend/cache/cache.go (v1.36.3).
"""

from collections.abc import Callable, Iterable, Mapping

from seatrial.model.documents import Document
from seatrial.scheduler.cache.node_info import NodeInfo
from seatrial.scheduler.cache.node_table import NodeTable
from seatrial.scheduler.cache.pod_info import PodInfo, PodReader, replace_pod
from seatrial.scheduler.cache.store_cluster import WRITER, StoreCluster, is_served, kind_named
from seatrial.scheduler.dra import taint_rules
from seatrial.scheduler.framework.events import (
    ASSIGNED_ADD,
    ASSIGNED_DELETE,
    NODE_ADD,
    NODE_DELETE,
    OBSERVED,
    RESOURCE_SLICE,
    ClusterEvent,
    node_events,
    pod_events,
)
from seatrial.scheduler.framework.interface import Action
from seatrial.scheduler.framework.pre_bind import PodsInPreBind
from seatrial.scheduler.queue import SchedulingQueue
from seatrial.scheduler.schedule_one.recorder import ANNOTATOR
from seatrial.store import Change, Store, Stored

_KINDS = (
    "Pod",
    "Node",
    *OBSERVED,
    "Namespace",
    "Service",
    "ReplicationController",
    "ReplicaSet",
    "StatefulSet",
    "PodDisruptionBudget",
)
_ACTIONS = {"ADDED": Action.ADD, "MODIFIED": Action.UPDATE, "DELETED": Action.DELETE}
_OVER = ("Succeeded", "Failed")


class EventHandlers:
    """Keeps the scheduler's picture of the cluster, pods that are only assumed to be somewhere included."""

    def __init__(
        self,
        store: Store,
        table: NodeTable,
        cluster: StoreCluster,
        profiles: Iterable[str],
        reader: PodReader | None = None,
        gates: Mapping[str, bool] | None = None,
    ) -> None:
        self._store, self._table, self._cluster = store, table, cluster
        self._profiles = frozenset(profiles)
        self._reader = reader or PodReader()
        self._has_taint_rules = (gates or {}).get(taint_rules.GATE, False)
        self.queue: SchedulingQueue
        """Set by the scheduler, which builds both."""
        self.pre_binding: PodsInPreBind
        """The pods that wait in PreBind; set by the scheduler."""
        self.on_assumed_deleted: Callable[[PodInfo], bool] = lambda pod: False
        """Asked when a pod is deleted while it waits to be bound; whether the callee undoes the assumption."""
        self.pods: dict[str, PodInfo] = {}
        self.assumed: dict[str, PodInfo] = {}
        self._outdated: set[str] = set()
        """Keys of pods of which more than the status may differ from what we last read."""
        self._held: list[Change] | None = None
        self._unsubscribe: Callable[[], None] | None = None

    def hold(self) -> None:
        """Keep changes back: an attempt is under way that must see one picture of the cluster."""
        if self._held is None:
            self._held = []

    def release(self) -> None:
        """Take in what was kept back."""
        held, self._held = self._held or (), None
        for change in held:
            self._on_change(change)

    def start(self) -> None:
        """Read the present objects and subscribe to changes."""
        kinds = [kind_named(self._store.kinds, name) for name in _KINDS]
        if self._has_taint_rules and is_served(self._store.kinds, taint_rules.KIND):
            kinds.append(kind_named(self._store.kinds, taint_rules.KIND))
        for stored in self._store.list(kinds[1]):
            self._table.add_node(NodeInfo.of(stored))
        for stored in self._store.list(kinds[0]):
            self._add_pod(stored)
        self._unsubscribe = self._store.subscribe(self._on_change, kinds)

    def stop(self) -> None:
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None

    def present(self, pod: PodInfo) -> PodInfo | None:
        """The pod as it is now; None where it is gone, replaced or bound."""
        found = self.pods.get(pod.key)
        return found if found is not None and found.uid == pod.uid and not found.node else None

    def assume(self, pod: PodInfo) -> None:
        """Count a pod where it is about to be bound."""
        self.assumed[pod.uid] = pod
        self._table.add_pod(pod)

    def forget(self, pod: PodInfo) -> None:
        """The pod is not going to be bound after all."""
        if self.assumed.pop(pod.uid, None) is not None:
            self._table.remove_pod(pod)

    def _on_change(self, change: Change) -> None:
        if self._held is not None:
            self._held.append(change)
            return
        self.take_in(change)

    def take_in(self, change: Change) -> None:
        """Bring the picture up to date with a change."""
        name = change.stored.kind.kind
        if change.writer == ANNOTATOR:
            if name == "Pod":
                self._outdated.add(f"{change.stored.namespace}/{change.stored.name}")
            return
        if name == "Pod":
            self._on_pod(change)
        elif name == "Node":
            self._on_node(change)
        else:
            self._cluster.apply(change)
            if self.pre_binding:
                self.pre_binding.notice((name, change.stored.namespace, change.stored.name))
            if name in (*OBSERVED, taint_rules.KIND) and self.is_heard():
                old = None if change.previous is None else change.previous.document()
                new = None if change.type == "DELETED" else change.stored.document()
                if name == taint_rules.KIND:
                    self._on_taint_rule(old, new)
                else:
                    self.queue.move_all(ClusterEvent(name, _ACTIONS[change.type]), old, new)

    def _on_taint_rule(self, old: Document | None, new: Document | None) -> None:
        for piece in self._cluster.list(RESOURCE_SLICE):
            if taint_rules.is_changed(piece, old, new):
                self.queue.move_all(ClusterEvent(RESOURCE_SLICE, Action.UPDATE), piece, piece)

    def is_heard(self) -> bool:
        """Whether there are pods that an event could move."""
        return bool(self.queue.unschedulable.present or self.queue.in_flight.since)

    # -- nodes -------------------------------------------------------------------------------------------------------

    def _on_node(self, change: Change) -> None:
        table, name = self._table, change.stored.name
        old = table.find(name)
        if change.type == "DELETED":
            if old is not None:
                self.queue.move_all(NODE_DELETE, old, None)
                table.remove_node(name)
                self.pre_binding.notice(("Node", "", name))
            return
        new = NodeInfo.of(change.stored)
        if old is None:
            table.add_node(new)
            self.queue.move_all(NODE_ADD, None, new)
            return
        table.update_node(new)
        if self.is_heard():
            for event in node_events(old, new):
                self.queue.move_all(event, old, new)

    # -- pods --------------------------------------------------------------------------------------------------------

    def _on_pod(self, change: Change) -> None:
        stored = change.stored
        key = f"{stored.namespace}/{stored.name}"
        old = self.pods.get(key)
        if old is None:
            if change.type != "DELETED":
                self._add_pod(stored)
            return
        if change.type == "DELETED":
            # What is deleted is read for a nomination alone, and a pod that has its node has none.
            self._delete_pod(old, old if old.node else self._reader.of(stored))
            return
        assumed = self.assumed.get(old.uid)
        if assumed is not None and change.subresource == "binding" and change.writer == WRITER:
            self._confirm(old, assumed, change)
            return
        new = self._read_again(key, old, change)
        if new.uid != old.uid or new.phase in _OVER:
            self._delete_pod(old, old)
            self._add_pod(stored)
            return
        self.pods[key] = new
        self._update_pod(old, new)

    def _read_again(self, key: str, old: PodInfo, change: Change) -> PodInfo:
        """The pod after a change; after a write of its status little has to be read."""
        new = None
        if change.subresource == "status" and change.previous is not None and key not in self._outdated:
            new = self._reader.with_status(old, change.stored, change.previous)
        if new is None:
            self._outdated.discard(key)
            new = self._reader.of(change.stored)
        return new

    def _add_pod(self, stored: Stored) -> None:
        pod = self._reader.of(stored)
        if pod.phase in _OVER:
            return
        self.pods[pod.key] = pod
        self._outdated.discard(pod.key)
        if pod.node:
            self._table.add_pod(pod)
            self._tell(ASSIGNED_ADD, None, pod)
        elif pod.shape.scheduler_name in self._profiles:
            self.queue.add(pod)

    def _update_pod(self, old: PodInfo, new: PodInfo) -> None:
        is_ours = old.shape.scheduler_name in self._profiles
        if old.node:
            self._table.update_pod(old, new)
            if self.is_heard():
                for event in pod_events(old, new):
                    self.queue.move_all(event, old, new)
        elif new.node:
            assumed = self.assumed.pop(old.uid, None)
            if assumed is not None:
                self._table.remove_pod(assumed)
            self._table.add_pod(new)
            self._tell(ASSIGNED_ADD, None, new)
            if is_ours:
                self.queue.delete(old)
        elif is_ours:
            self._update_pending(old, new)

    def _update_pending(self, old: PodInfo, new: PodInfo) -> None:
        if new.uid in self.assumed:
            if new.deleting and not old.deleting:
                self._delete_assumed(new)
            return
        self.queue.update(old, new)
        if old.nominated_node and old.nominated_node != new.nominated_node:
            self._release_nomination(old)

    def _confirm(self, old: PodInfo, assumed: PodInfo, change: Change) -> None:
        """Our own binding has come back: the pod is where we assumed it to be, perhaps with labels of its node."""
        stored = change.stored
        del self.assumed[old.uid]
        if not _differ_only_in_node(old, assumed):
            self._outdated.add(old.key)
        bound = (
            assumed
            if stored.differs_only_in_status_or_node(change.previous)
            else self._reader.relabelled(assumed, stored)
        )
        if bound is not assumed:
            self._table.update_pod(assumed, bound)
        self.pods[old.key] = replace_pod(bound, resource_version=str(stored.revision), status=old.status)
        self._tell(ASSIGNED_ADD, None, bound)
        self.queue.expect_binding(bound)
        self.queue.delete(old)

    def _delete_pod(self, old: PodInfo, last: PodInfo) -> None:
        del self.pods[old.key]
        self._outdated.discard(old.key)
        if old.node:
            self._table.remove_pod(old)
            self._tell(ASSIGNED_DELETE, old, None)
            return
        if old.shape.scheduler_name not in self._profiles:
            return
        self.queue.delete(old)
        if self.pre_binding:
            self.pre_binding.notice(("Pod", old.namespace, old.name))
        if old.uid in self.assumed:
            self._delete_assumed(old)
        elif last.nominated_node:
            self._release_nomination(last)

    def _delete_assumed(self, pod: PodInfo) -> None:
        assumed = self.assumed[pod.uid]
        if not self.on_assumed_deleted(assumed):
            self.forget(assumed)
        self._tell(ASSIGNED_DELETE, assumed, None)

    def _release_nomination(self, pod: PodInfo) -> None:
        """Room that was kept for a nominated pod is free: pods that are not more important may take it."""
        self.queue.move_all(ASSIGNED_DELETE, pod, None, lambda other: other.priority <= pod.priority)

    def _tell(self, event: ClusterEvent, old: PodInfo | None, new: PodInfo | None) -> None:
        if self.is_heard():
            self.queue.move_all(event, old, new)


def _differ_only_in_node(old: PodInfo, assumed: PodInfo) -> bool:
    """Whether an assumed pod is the old one, status apart, on a node: it may have changed while it was on its way."""
    return assumed.shape is old.shape and assumed.annotations is old.annotations and assumed.deleting == old.deleting
