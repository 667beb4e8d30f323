"""Taints nodes by their conditions, and marks pods on unready nodes as not ready.

Upstream: pkg/controller/nodelifecycle (v1.36). A node that is not ready or unreachable is tainted at once
(upstream spaces the taints out by zone).
"""

from collections.abc import Iterable, Mapping
from typing import ClassVar

import msgspec

from seatrial.controllers.framework.controller import Context, Key, Listener, QueueController
from seatrial.controllers.framework.pod_row import PodRow
from seatrial.controllers.node.zones import Place, Zones, place_of, zone_of
from seatrial.model.documents import Document
from seatrial.model.errors import NotFound
from seatrial.model.kinds import Kind
from seatrial.model.times import to_time
from seatrial.store import Change, Condition, StatusView, Stored, View

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
    component: ClassVar[str] = "node-controller"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.kind = context.kind("v1", "Node")
        self._pods = context.kind("v1", "Pod")
        self._zones = Zones()

    def watches(self) -> Mapping[Kind, Listener]:
        return {self.kind: self._changed}

    def owners(self) -> Iterable[Kind]:
        return [self.kind]

    def start(self) -> None:
        for stored in self.store.list(self.kind):
            self._zones.put(stored.name, _place_of(stored))
        super().start()

    def stop(self) -> None:
        super().stop()
        self._zones = Zones()

    def sync(self, key: Key) -> None:
        stored = self.store.find(self.kind, key[1])
        if stored is None or _is_untroubled(stored):
            return
        document = stored.document()
        evicts = self._zones.evicts(zone_of(document))
        if wanted_taints(document, self.clock.now(), evicts=evicts, lost=self._zones.all_are_lost()) != (
            document["spec"].get("taints", [])
        ):
            self.store.modify(self.kind, key[1], self._set_taints, writer=self.name)
        if ready_status(document) == "Unknown":
            self._mark_pods(key[1])

    def _set_taints(self, document: Document) -> None:
        evicts = self._zones.evicts(zone_of(document))
        taints = wanted_taints(document, self.clock.now(), evicts=evicts, lost=self._zones.all_are_lost())
        document["spec"].pop("taints", None)
        if taints:
            document["spec"]["taints"] = taints

    def _changed(self, change: Change) -> None:
        name = change.stored.name
        if change.type == "DELETED":
            place = None
        else:
            place = _place_of(change.stored)
            self.enqueue(("", name))
        if place == self._zones.nodes.get(name):
            return
        before = self._zones.verdicts()
        self._zones.put(name, place)
        if self._zones.verdicts() != before:
            for other, (_, is_ready) in self._zones.nodes.items():
                if not is_ready:
                    self.enqueue(("", other))

    def _mark_pods(self, node: str) -> None:
        """Mark the pods of an unreachable node as not ready."""
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


class _Metadata(msgspec.Struct):
    labels: dict[str, str] | None = None


class _Spec(msgspec.Struct):
    taints: list[Document] | None = None
    unschedulable: bool | None = None


class _Status(msgspec.Struct):
    conditions: tuple[Condition, ...] = ()


class _Node(msgspec.Struct):
    metadata: _Metadata
    spec: _Spec = msgspec.field(default_factory=_Spec)


_NODE = View(_Node)


def _asks_for_taints(status: _Status) -> bool:
    return any((condition.type, condition.status) in CONDITION_TAINTS for condition in status.conditions)


_ASKS_FOR_TAINTS = StatusView(_Status, _asks_for_taints)
_READY = StatusView(
    _Status, lambda status: next((found.status for found in status.conditions if found.type == "Ready"), "")
)


def _place_of(stored: Stored) -> Place | None:
    return place_of(_NODE.read(stored).metadata.labels or {}, _READY.read(stored))


def _is_untroubled(stored: Stored) -> bool:
    """Whether a node has no taint and nothing that asks for one, as most nodes."""
    spec = _NODE.read(stored).spec
    return not spec.taints and not spec.unschedulable and not _ASKS_FOR_TAINTS.read(stored)


def ready_status(document: Document) -> str:
    """The status of a node's Ready condition; empty if it has no such condition."""
    conditions = document.get("status", {}).get("conditions", [])
    return next((condition["status"] for condition in conditions if condition["type"] == "Ready"), "")


def wanted_taints(document: Document, now: int, *, evicts: bool = True, lost: bool = False) -> list[Document]:
    """The node's own taints, and those that follow from its conditions, its cordon and its zone."""
    present: list[Document] = document["spec"].get("taints", [])
    conditions = document.get("status", {}).get("conditions", [])
    wanted = [
        (taint, "NoSchedule")
        for condition in conditions
        if (taint := CONDITION_TAINTS.get((condition["type"], condition["status"]))) is not None
    ]
    if document["spec"].get("unschedulable"):
        wanted.append((UNSCHEDULABLE, "NoSchedule"))
    evicting = {"False": NOT_READY, "Unknown": UNREACHABLE}.get(ready_status(document))
    known = {(taint["key"], taint["effect"]) for taint in present}
    if evicting is not None and not lost and (evicts or known & {(NOT_READY, "NoExecute"), (UNREACHABLE, "NoExecute")}):
        wanted.append((evicting, "NoExecute"))
    kept = [taint for taint in present if not _is_ours(taint) or (taint["key"], taint["effect"]) in wanted]
    known = {(taint["key"], taint["effect"]) for taint in kept}
    added = [
        {"key": key, "effect": effect, "timeAdded": to_time(now)}
        for key, effect in wanted
        if (key, effect) not in known
    ]
    return kept + added


def _is_ours(taint: Document) -> bool:
    """Whether the taint is one that this controller keeps: by condition, or by readiness."""
    if taint["effect"] == "NoExecute":
        return taint["key"] in (NOT_READY, UNREACHABLE)
    return taint["effect"] == "NoSchedule" and taint["key"] in OURS
