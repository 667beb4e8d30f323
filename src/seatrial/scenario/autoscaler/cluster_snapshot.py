"""The cluster with nodes and pods that are not there, judged by the exact scheduler; nothing is written.

Upstream: cluster-autoscaler/simulator/clustersnapshot. A scheduler of its own reads the store; nodes are shown to it as
changes, pods are assumed to be on the nodes that it proposes.
"""

from types import TracebackType
from typing import Self

from seatrial.model.documents import Document, encode
from seatrial.model.kinds import Kind
from seatrial.scheduler import Scheduler
from seatrial.scheduler.cache import NodeInfo, PodInfo
from seatrial.store import Change, ChangeType, Stored

WRITER = "cluster-autoscaler"


class ClusterSnapshot:
    """One picture of the cluster; a context that forgets it at the end."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        store = scheduler.store
        self._node_kind, self._pod_kind = store.kinds.served("v1", "Node"), store.kinds.served("v1", "Pod")

    def __enter__(self) -> Self:
        self._scheduler.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._scheduler.stop()

    def node(self, name: str) -> NodeInfo | None:
        """A node with its pods."""
        return self._scheduler.table.find(name)

    def pod(self, key: str) -> PodInfo | None:
        """A pod that the scheduler is responsible for."""
        return self._scheduler.watcher.pods.get(key)

    def add_node(self, document: Document) -> None:
        """Show a node that is not there."""
        self._show("ADDED", self._node_kind, document)

    def remove_node(self, name: str) -> None:
        """Hide a node; its pods have to be hidden before."""
        self._show("DELETED", self._node_kind, {"metadata": {"name": name}})

    def cordon(self, name: str) -> Document:
        """Show a node as unschedulable; the node as it was, for `uncordon`."""
        document = self._scheduler.store.get(self._node_kind, name).document()
        spec = {**(document.get("spec") or {}), "unschedulable": True}
        self._show("MODIFIED", self._node_kind, {**document, "spec": spec})
        return document

    def uncordon(self, document: Document) -> None:
        """Undo `cordon`."""
        self._show("MODIFIED", self._node_kind, document)

    def place(self, key: str) -> str:
        """Put a pending pod on the node that the scheduler would choose; its name, empty where none fits."""
        pod = self.pod(key)
        attempt = self._scheduler.propose(*key.split("/")) if pod is not None else None
        if pod is None or attempt is None or not attempt.node:
            return ""
        self._scheduler.watcher.assume(pod.on(attempt.node))
        return attempt.node

    def take_back(self, key: str, node: str) -> None:
        """Undo `place`."""
        pod = self.pod(key)
        if pod is not None:
            self._scheduler.watcher.forget(pod.on(node))

    def unbind(self, document: Document) -> None:
        """Show a bound pod as a pending one."""
        self._show("DELETED", self._pod_kind, document)
        spec = {key: value for key, value in document["spec"].items() if key != "nodeName"}
        self._show("ADDED", self._pod_kind, {**document, "spec": spec})

    def bind_again(self, document: Document) -> None:
        """Undo `unbind`."""
        self._show("DELETED", self._pod_kind, document)
        self._show("ADDED", self._pod_kind, document)

    def _show(self, change: ChangeType, kind: Kind, document: Document) -> None:
        meta = document["metadata"]
        stored = Stored(kind, meta.get("namespace", ""), meta["name"], 0, encode(document))
        self._scheduler.watcher.take_in(Change(change, stored, None, WRITER, self._scheduler.clock.now()))
