"""Renews the Lease of each node in real time, as kubelets do: a node-lifecycle controller outside looks at it.

Upstream: k8s.io/component-helpers/apimachinery/lease and pkg/kubelet (nodeLeaseDurationSeconds 40, renewed every 10 s).
"""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import ClassVar

import msgspec

from seatrial.clock import Timer
from seatrial.controllers.framework import Context, Key, Listener, QueueController
from seatrial.model.documents import Document
from seatrial.model.kinds import Kind
from seatrial.model.times import SECOND, to_micro_time
from seatrial.store import Change, Stored

NAMESPACE = "kube-node-lease"
DURATION = 40
RENEWED_EVERY = 10 * SECOND
AT_ONCE = 16
"""Leases that are renewed in one piece of work."""


class _Spec(msgspec.Struct, rename="camel", gc=False):
    renew_time: str | None = None


class _Lease(msgspec.Struct, gc=False):
    spec: _Spec | None = None


_lease = msgspec.json.Decoder(_Lease)


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
        current = self.store.find(self.kind, node.name, NAMESPACE)
        if current is not None:
            self._renew(current, now)
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

    def work(self) -> bool:
        """Sync some keys: a turn of all other workers after each lease takes longer than to renew it."""
        number = min(AT_ONCE, len(self._queue))
        for _ in range(number):
            super().work()
        return number > 0

    def _renew(self, lease: Stored, now: str) -> None:
        data, spec, revision = lease.data, _lease.decode(lease.data).spec, b'"resourceVersion":"%d"'
        old, renewed = revision % lease.revision, b'"renewTime":"%s"' % ((spec and spec.renew_time) or "").encode()
        # Where admission judges each object, or a label has one of these names, the lease is written as others are.
        is_judged = self.store.admission.inputs(self.store, self.kind, NAMESPACE) is None
        if is_judged or data.count(old) != 1 or data.count(renewed) != 1:
            renew = partial(_set_time, now)
            self.store.modify(self.kind, lease.name, renew, namespace=NAMESPACE, writer=self.name)
            return
        data = data.replace(renewed, b'"renewTime":"%s"' % now.encode())
        self.store.write_pieces(
            lease, lambda number: (data.replace(old, revision % number),), writer=self.name, subresource=""
        )

    def _node_changed(self, change: Change) -> None:
        if change.type == "ADDED":
            self.enqueue(("", change.stored.name))

    def _renew_all(self) -> None:
        for stored in self.store.list(self._nodes):
            self.enqueue(("", stored.name))
        self._renewal = self.clock.after(RENEWED_EVERY, self._renew_all, outer=True)


def _set_time(now: str, lease: Document) -> None:
    lease["spec"] = {**(lease.get("spec") or {}), "renewTime": now}
