"""Pod garbage collection: fails and deletes pods whose node no longer exists.

Upstream: pkg/controller/podgc (v1.36), which waits for 40 seconds first; here it happens at once.
"""

from collections.abc import Iterable, Mapping
from typing import ClassVar

from seatrial.controllers.framework.conditions import set_condition
from seatrial.controllers.framework.controller import Context, Key, Listener, QueueController
from seatrial.model.documents import Document
from seatrial.model.errors import NotFound
from seatrial.model.kinds import Kind
from seatrial.model.times import to_time
from seatrial.store import Change
from seatrial.store.options import DeleteOptions

MESSAGE = "PodGC: node no longer exists"


class OrphanedPods(QueueController):
    """Deletes the pods of deleted nodes; its keys are those nodes."""

    name: ClassVar[str] = "node"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.kind = context.kind("v1", "Node")
        self._pods = context.kind("v1", "Pod")

    def watches(self) -> Mapping[Kind, Listener]:
        return {self.kind: self._node_changed}

    def owners(self) -> Iterable[Kind]:
        return ()

    def sync(self, key: Key) -> None:
        if self.store.find(self.kind, key[1]) is not None:
            return
        for row in self.context.pods.on_node(key[1]):
            self._end(row.namespace, row.name)

    def _end(self, namespace: str, name: str) -> None:
        condition = {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "DeletionByPodGC",
            "message": MESSAGE,
            "lastTransitionTime": to_time(self.clock.now()),
        }

        def change(pod: Document) -> None:
            status = pod.setdefault("status", {})
            if status.get("phase") not in ("Succeeded", "Failed"):
                status["phase"] = "Failed"
                set_condition(status, condition)

        options = DeleteOptions(grace_period_seconds=0)
        try:
            self.store.modify(self._pods, name, change, namespace=namespace, subresource="status", writer=self.name)
            self.store.delete(self._pods, name, namespace=namespace, writer=self.name, options=options)
        except NotFound:
            return

    def _node_changed(self, change: Change) -> None:
        if change.type == "DELETED":
            self.enqueue(("", change.stored.name))
