"""PodDisruptionBudget: how many of its pods are healthy, and how many may be disturbed.

Upstream: pkg/controller/disruption (v1.36).
"""

from collections.abc import Iterable, Mapping
from typing import ClassVar

from seatrial.controllers.conditions import find_condition
from seatrial.controllers.controller import Context, Key, Listener, QueueController
from seatrial.controllers.intorstring import scaled
from seatrial.controllers.owning import controller_of, set_status
from seatrial.controllers.pods import PodRow
from seatrial.model.documents import Document
from seatrial.model.kinds import Kind
from seatrial.model.labels import LabelSelector
from seatrial.model.times import MINUTE, parse_time, to_time

FORGOTTEN_AFTER = 2 * MINUTE
"""A pod whose eviction was granted and that is still there counts again after this."""
SCALES = {
    "ReplicaSet": ("apps/v1", "ReplicaSet"),
    "StatefulSet": ("apps/v1", "StatefulSet"),
    "ReplicationController": ("v1", "ReplicationController"),
    "Deployment": ("apps/v1", "Deployment"),
}


class PodDisruptionBudget(QueueController):
    """Keeps `.status` of budgets."""

    name: ClassVar[str] = "poddisruptionbudget"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.kind = context.kind("policy/v1", "PodDisruptionBudget")

    def watches(self) -> Mapping[Kind, Listener]:
        return {self.kind: self.enqueue_changed}

    def owners(self) -> Iterable[Kind]:
        return [self.kind]

    def start(self) -> None:
        super().start()
        self._unsubscribe.append(self.context.pods.listen(self._pod_changed))

    def sync(self, key: Key) -> None:
        stored = self.store.find(self.kind, key[1], key[0])
        if stored is None:
            return
        budget = stored.document()
        selector = LabelSelector.from_document(budget["spec"].get("selector"))
        rows = [row for row in self.context.pods.in_namespace(key[0]) if selector.matches(row.labels)]
        pods = [row for row in rows if row.phase not in ("Succeeded", "Failed")]
        expected, desired = self._expect(budget, pods)
        now = self.clock.now()
        disrupted = self._disrupted(budget, now)
        healthy = sum(row.is_ready and not row.is_deleting and row.name not in disrupted for row in pods)
        allowed = max(0, healthy - desired) if expected > 0 else 0
        status: Document = {
            "observedGeneration": budget["metadata"].get("generation", 0),
            "disruptionsAllowed": allowed,
            "currentHealthy": healthy,
            "desiredHealthy": desired,
            "expectedPods": expected,
            "conditions": self._conditions(budget, allowed, now),
        }
        kept = {name: time for name, time in disrupted.items() if self.context.pods.get(key[0], name) is not None}
        if kept:
            status["disruptedPods"] = kept
        set_status(self.context, stored, status, self.name)

    def _expect(self, budget: Document, pods: list[PodRow]) -> tuple[int, int]:
        """How many pods there should be, and how many of them healthy."""
        spec = budget["spec"]
        if spec.get("maxUnavailable") is not None:
            expected = self._scale(budget, pods)
            return expected, max(0, expected - scaled(spec["maxUnavailable"], expected, up=True))
        least = spec.get("minAvailable", 1)
        if isinstance(least, int):
            return len(pods), least
        expected = self._scale(budget, pods)
        return expected, scaled(least, expected, up=True)

    def _scale(self, budget: Document, pods: list[PodRow]) -> int:
        """The replicas that the pods' controllers want; a Deployment speaks for its ReplicaSets."""
        wanted: dict[str, int] = {}
        for row in pods:
            if row.owner is None or row.owner.uid in wanted:
                continue
            place = SCALES.get(row.owner.kind)
            owner = self.store.find(self.context.kind(*place), row.owner.name, row.namespace) if place else None
            if owner is None:
                continue
            document = owner.document()
            parent = controller_of(document)
            if parent is not None and parent["kind"] == "Deployment":
                found = self.store.find(self.context.kind(*SCALES["Deployment"]), parent["name"], row.namespace)
                document = found.document() if found is not None else document
            wanted[row.owner.uid] = 0
            wanted[document["metadata"]["uid"]] = document["spec"].get("replicas", 1)
        return sum(wanted.values())

    def _disrupted(self, budget: Document, now: int) -> dict[str, str]:
        """Pods whose eviction was granted and that have not gone yet."""
        granted: dict[str, str] = budget.get("status", {}).get("disruptedPods", {})
        recent = {name: when for name, when in granted.items() if parse_time(when) + FORGOTTEN_AFTER > now}
        if recent:
            key = budget["metadata"]["namespace"], budget["metadata"]["name"]
            self.enqueue_after(key, FORGOTTEN_AFTER)
        return recent

    def _conditions(self, budget: Document, allowed: int, now: int) -> list[Document]:
        before: list[Document] = budget.get("status", {}).get("conditions", [])
        current = find_condition({"conditions": before}, "DisruptionAllowed")
        status = "True" if allowed > 0 else "False"
        condition = {
            "type": "DisruptionAllowed",
            "status": status,
            "observedGeneration": budget["metadata"].get("generation", 0),
            "lastTransitionTime": to_time(now),
            "reason": "SufficientPods" if allowed > 0 else "InsufficientPods",
            "message": "",
        }
        if current is not None and current["status"] == status:
            condition["lastTransitionTime"] = current["lastTransitionTime"]
        return [*(other for other in before if other["type"] != "DisruptionAllowed"), condition]

    def _pod_changed(self, old: PodRow | None, new: PodRow | None) -> None:
        row = new or old
        if row is None:
            return
        for stored in self.store.list(self.kind, row.namespace):
            selector = LabelSelector.from_document(stored.document()["spec"].get("selector"))
            if any(state is not None and selector.matches(state.labels) for state in (old, new)):
                self.enqueue((stored.namespace, stored.name))
