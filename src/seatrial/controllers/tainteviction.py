"""Taint eviction: pods leave a node with a NoExecute taint at once, or when their toleration runs out.

Upstream: pkg/controller/tainteviction (v1.36).
"""

from collections.abc import Iterable, Mapping
from typing import ClassVar

from seatrial.clock import Timer
from seatrial.controllers.framework.conditions import set_condition
from seatrial.controllers.framework.controller import Context, Key, Listener, QueueController
from seatrial.controllers.framework.pod_control import delete_pod
from seatrial.controllers.framework.pod_row import PodRow
from seatrial.model.documents import Document
from seatrial.model.errors import NotFound
from seatrial.model.kinds import Kind
from seatrial.model.times import SECOND, to_time
from seatrial.store import Change, Stored

NO_EXECUTE = "NoExecute"
MESSAGE = "Taint manager: deleting due to NoExecute taint"


class TaintEviction(QueueController):
    """Evicts pods by NoExecute taints; its keys are pods."""

    name: ClassVar[str] = "tainteviction"
    component: ClassVar[str] = "taint-eviction-controller"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._nodes = context.kind("v1", "Node")
        self._pods = context.kind("v1", "Pod")
        self._taints: dict[str, list[Document]] = {}
        self._leaving: dict[Key, tuple[int, Timer]] = {}

    def watches(self) -> Mapping[Kind, Listener]:
        return {self._nodes: self._node_changed}

    def owners(self) -> Iterable[Kind]:
        return ()

    def start(self) -> None:
        super().start()
        self._unsubscribe.append(self.context.pods.listen(self._pod_changed, needed=self._taints))
        for stored in self.store.list(self._nodes):
            self._look_at(stored)

    def stop(self) -> None:
        super().stop()
        for key in list(self._leaving):
            self._stay(key)

    def sync(self, key: Key) -> None:
        row = self.context.pods.get(*key)
        taints = self._taints.get(row.node, []) if row is not None else []
        if row is None or row.is_deleting or not taints:
            self._stay(key)
            return
        pod = self.store.get(self._pods, row.name, row.namespace).document()
        seconds = stay(pod["spec"].get("tolerations", []), taints)
        if seconds is None:
            self._stay(key)
        elif seconds <= 0:
            self._stay(key)
            self._evict(row)
        else:
            self._leave_at(key, seconds)

    def _leave_at(self, key: Key, seconds: int) -> None:
        """Schedule the eviction; the earlier of two times wins."""
        since = self._leaving[key][0] if key in self._leaving else self.clock.now()
        when = since + seconds * SECOND
        if key in self._leaving:
            if self._leaving[key][1].when <= when:
                return
            self._leaving[key][1].cancel()
        self._leaving[key] = since, self.clock.at(when, lambda: self._time_is_up(key), outer=True)

    def _time_is_up(self, key: Key) -> None:
        self._leaving.pop(key, None)
        row = self.context.pods.get(*key)
        if row is not None and not row.is_deleting:
            self._evict(row)

    def _stay(self, key: Key) -> None:
        leaving = self._leaving.pop(key, None)
        if leaving is not None:
            leaving[1].cancel()
            if (row := self.context.pods.get(*key)) is not None and not row.is_deleting:
                self._tell(row, "Cancelling deletion of Pod")

    def _evict(self, row: PodRow) -> None:
        condition = {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "DeletionByTaintManager",
            "message": MESSAGE,
            "lastTransitionTime": to_time(self.clock.now()),
        }
        try:
            self.store.modify(
                self._pods,
                row.name,
                lambda pod: set_condition(pod.setdefault("status", {}), condition),
                namespace=row.namespace,
                subresource="status",
                writer=self.name,
            )
        except NotFound:
            return
        self._tell(row, "Marking for deletion Pod")
        delete_pod(self.context, row, self.name)

    def _tell(self, row: PodRow, what: str) -> None:
        pod: Document = {"metadata": {"name": row.name, "namespace": row.namespace, "uid": row.uid}}
        self.record(self._pods, pod, "TaintManagerEviction", f"{what} {row.namespace}/{row.name}")

    def _node_changed(self, change: Change) -> None:
        if change.type == "DELETED":
            self._taints.pop(change.stored.name, None)
            return
        self._look_at(change.stored)

    def _look_at(self, node: Stored) -> None:
        present = node.document().get("spec", {}).get("taints", []) if NO_EXECUTE.encode() in node.data else []
        taints = [taint for taint in present if taint["effect"] == NO_EXECUTE]
        if taints == self._taints.get(node.name, []):
            return
        self._taints[node.name] = taints
        for row in self.context.pods.on_node(node.name):
            self.enqueue((row.namespace, row.name))

    def _pod_changed(self, old: PodRow | None, new: PodRow | None) -> None:
        row = new or old
        if row is not None and (self._taints.get(row.node) or (row.namespace, row.name) in self._leaving):
            self.enqueue((row.namespace, row.name))


def stay(tolerations: list[Document], taints: list[Document]) -> int | None:
    """Seconds a pod may stay with these taints: None for ever, 0 not at all."""
    seconds: list[int] = []
    for taint in taints:
        used = [toleration for toleration in tolerations if tolerates(toleration, taint)]
        if not used:
            return 0
        seconds += [item["tolerationSeconds"] for item in used if item.get("tolerationSeconds") is not None]
    return max(0, min(seconds)) if seconds else None


def tolerates(toleration: Document, taint: Document) -> bool:
    """Whether a toleration covers a taint."""
    if toleration.get("effect") and toleration["effect"] != taint["effect"]:
        return False
    if toleration.get("key") and toleration["key"] != taint["key"]:
        return False
    operator = toleration.get("operator") or "Equal"
    if operator == "Exists":
        return True
    is_equal: bool = toleration.get("value", "") == taint.get("value", "")
    return operator == "Equal" and bool(toleration.get("key")) and is_equal
