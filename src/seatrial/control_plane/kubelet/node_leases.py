"""Renews the Lease of each node in real time, as kubelets do: a node-lifecycle controller outside looks at it.

Upstream: k8s.io/component-helpers/apimachinery/lease and pkg/kubelet (nodeLeaseDurationSeconds 40, renewed every 10 s).
"""

from collections.abc import Iterable, Mapping
from typing import ClassVar

from seatrial.clock import Timer
from seatrial.controllers.framework import Context, Key, Listener, QueueController
from seatrial.model.documents import Document
from seatrial.model.kinds import Kind
from seatrial.model.times import SECOND, to_micro_time
from seatrial.store import Change

NAMESPACE = "kube-node-lease"
DURATION = 40
RENEWED_EVERY = 10 * SECOND


class NodeLeases(QueueController):
    """Keeps a fresh Lease for every node."""

    name: ClassVar[str] = "nodelease"
    reads_pods: ClassVar[bool] = False

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._nodes = context.kind("v1", "Node")
        self.kind = context.kind("coordination.k8s.io/v1", "Lease")
        self._renewal: Timer | None = None

    def watches(self) -> Mapping[Kind, Listener]:
        return {self._nodes: self._node_changed}

    def owners(self) -> Iterable[Kind]:
        return [self._nodes]

    def start(self) -> None:
        super().start()
        self._renewal = self.clock.after(RENEWED_EVERY, self._renew_all, outer=True)

    def stop(self) -> None:
        super().stop()
        if self._renewal is not None:
            self._renewal.cancel()
            self._renewal = None

    def sync(self, key: Key) -> None:
        node = self.store.find(self._nodes, key[1])
        if node is None:
            return
        now = to_micro_time(self.clock.now())
        if self.store.find(self.kind, node.name, NAMESPACE) is not None:
            self.store.modify(
                self.kind,
                node.name,
                lambda lease: lease["spec"].update(renewTime=now),
                namespace=NAMESPACE,
                writer=self.name,
            )
            return
        uid = node.document()["metadata"]["uid"]
        owner = {"apiVersion": "v1", "kind": "Node", "name": node.name, "uid": uid}
        spec: Document = {"holderIdentity": node.name, "leaseDurationSeconds": DURATION, "renewTime": now}
        lease: Document = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": node.name, "ownerReferences": [owner]},
            "spec": spec,
        }
        self.store.create(self.kind, lease, namespace=NAMESPACE, writer=self.name)

    def _node_changed(self, change: Change) -> None:
        if change.type == "ADDED":
            self.enqueue(("", change.stored.name))

    def _renew_all(self) -> None:
        for stored in self.store.list(self._nodes):
            self.enqueue(("", stored.name))
        self._renewal = self.clock.after(RENEWED_EVERY, self._renew_all, outer=True)
