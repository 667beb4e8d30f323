"""Conditions of nodes become taints, and pods of a node that is not ready are not ready either.

Upstream: pkg/controller/nodelifecycle (v1.36). A node that is not ready, or that nobody hears of, gets its taints at
once (upstream spaces them out by zone).
"""

from collections.abc import Iterable, Mapping
from typing import ClassVar

from seatrial.controllers.controller import Context, Key, Listener, QueueController
from seatrial.controllers.pods import PodRow
from seatrial.model.documents import Document
from seatrial.model.errors import NotFound
from seatrial.model.kinds import Kind
from seatrial.model.times import to_time

NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
CONDITION_TAINTS = {
    ("Ready", "False"): NOT_READY,
    ("Ready", "Unknown"): UNREACHABLE,
    ("MemoryPressure", "True"): "node.kubernetes.io/memory-pressure",
    ("DiskPressure", "True"): "node.kubernetes.io/disk-pressure",
    ("NetworkUnavailable", "True"): "node.kubernetes.io/network-unavailable",
    ("PIDPressure", "True"): "node.kubernetes.io/pid-pressure",
}
OURS = frozenset(CONDITION_TAINTS.values()) | {UNSCHEDULABLE}


class NodeTaints(QueueController):
    """Keeps the taints of nodes."""

    name: ClassVar[str] = "node"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.kind = context.kind("v1", "Node")
        self._pods = context.kind("v1", "Pod")

    def watches(self) -> Mapping[Kind, Listener]:
        return {self.kind: self.enqueue_changed}

    def owners(self) -> Iterable[Kind]:
        return [self.kind]

    def sync(self, key: Key) -> None:
        stored = self.store.find(self.kind, key[1])
        if stored is None:
            return
        document = stored.document()
        if wanted_taints(document, self.clock.now()) != document["spec"].get("taints", []):
            self.store.modify(self.kind, key[1], self._set_taints, writer=self.name)
        if _ready(document) in ("False", "Unknown"):
            self._mark_pods(key[1])

    def _set_taints(self, document: Document) -> None:
        taints = wanted_taints(document, self.clock.now())
        document["spec"].pop("taints", None)
        if taints:
            document["spec"]["taints"] = taints

    def _mark_pods(self, node: str) -> None:
        """Pods on a node that is not ready are not ready."""
        for row in self.context.pods.on_node(node):
            if row.is_ready:
                self._mark_pod(row)

    def _mark_pod(self, row: PodRow) -> None:
        def change(pod: Document) -> None:
            for condition in pod["status"]["conditions"]:
                if condition["type"] == "Ready":
                    condition |= {"status": "False", "lastTransitionTime": to_time(self.clock.now())}

        try:
            self.store.modify(
                self._pods, row.name, change, namespace=row.namespace, subresource="status", writer=self.name
            )
        except NotFound:
            return


def _ready(document: Document) -> str:
    conditions = document.get("status", {}).get("conditions", [])
    return next((condition["status"] for condition in conditions if condition["type"] == "Ready"), "")


def wanted_taints(document: Document, now: int) -> list[Document]:
    """The node's own taints, and ours as its conditions and its cordon call for."""
    present: list[Document] = document["spec"].get("taints", [])
    conditions = document.get("status", {}).get("conditions", [])
    wanted = [
        (taint, "NoSchedule")
        for condition in conditions
        if (taint := CONDITION_TAINTS.get((condition["type"], condition["status"]))) is not None
    ]
    if document["spec"].get("unschedulable"):
        wanted.append((UNSCHEDULABLE, "NoSchedule"))
    evicting = {"False": NOT_READY, "Unknown": UNREACHABLE}.get(_ready(document))
    if evicting is not None:
        wanted.append((evicting, "NoExecute"))
    kept = [
        taint
        for taint in present
        if taint["key"] not in OURS
        or (taint["key"], taint["effect"]) in wanted
        or (taint["effect"] == "NoExecute" and taint["key"] not in (NOT_READY, UNREACHABLE))
    ]
    known = {(taint["key"], taint["effect"]) for taint in kept}
    added = [_taint(key, effect, now) for key, effect in wanted if (key, effect) not in known]
    return kept + added


def _taint(key: str, effect: str, now: int) -> Document:
    return {"key": key, "effect": effect, "timeAdded": to_time(now)}
