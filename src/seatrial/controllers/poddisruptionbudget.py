"""PodDisruptionBudget: counts healthy pods and computes how many disruptions are allowed.

Upstream: pkg/controller/disruption (v1.36).
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from seatrial.controllers.framework.conditions import find_condition
from seatrial.controllers.framework.controller import Context, Key, Listener, QueueController
from seatrial.controllers.framework.int_or_string import scaled
from seatrial.controllers.framework.pod_control import controller_of, set_status
from seatrial.controllers.framework.pod_row import PodRow
from seatrial.controllers.framework.selectors import SelectorIndex
from seatrial.model.documents import Document
from seatrial.model.kinds import Kind
from seatrial.model.label_selectors import LabelSelector
from seatrial.model.times import MINUTE, parse_time, to_time
from seatrial.store import Change, OwnerReference, shared_document

FORGOTTEN_AFTER = 2 * MINUTE
"""A pod whose eviction was granted and that is still there counts again after this."""
SCALES = {
    "ReplicaSet": ("apps/v1", "ReplicaSet"),
    "StatefulSet": ("apps/v1", "StatefulSet"),
    "ReplicationController": ("v1", "ReplicationController"),
    "Deployment": ("apps/v1", "Deployment"),
}


@dataclass(slots=True)
class Guarded:
    """The pods of one budget that are not over, with their counts."""

    rows: dict[str, PodRow] = field(default_factory=dict)
    healthy: int = 0
    owners: Counter[OwnerReference] = field(default_factory=Counter)
    left: set[str] = field(default_factory=set)
    """Names whose pods have begun to terminate since the last sync; another pod may have the name by then."""

    @property
    def count(self) -> int:
        return len(self.rows)

    def put(self, row: PodRow) -> None:
        if row.phase in ("Succeeded", "Failed"):
            return
        self.rows[row.name] = row
        self.healthy += _is_healthy(row)
        if row.owner is not None:
            self.owners[row.owner] += 1

    def take_out(self, name: str) -> None:
        row = self.rows.pop(name, None)
        if row is None:
            return
        self.healthy -= _is_healthy(row)
        if row.owner is not None:
            self.owners[row.owner] -= 1
            if not self.owners[row.owner]:
                del self.owners[row.owner]

    def is_healthy(self, name: str) -> bool:
        return name in self.rows and _is_healthy(self.rows[name])


def _is_healthy(row: PodRow) -> bool:
    return row.is_ready and not row.is_deleting


class PodDisruptionBudget(QueueController):
    """Keeps `.status` of budgets."""

    name: ClassVar[str] = "poddisruptionbudget"
    component: ClassVar[str] = "controllermanager"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.kind = context.kind("policy/v1", "PodDisruptionBudget")
        self._selectors = SelectorIndex(self.store, self.kind, _selector)
        self._guarded: dict[Key, Guarded] = {}

    def watches(self) -> Mapping[Kind, Listener]:
        return {self.kind: self._changed}

    def owners(self) -> Iterable[Kind]:
        return [self.kind]

    def start(self) -> None:
        self._selectors.start()
        super().start()
        self._unsubscribe.append(
            self.context.pods.listen(self._pod_changed, placement=False, needed=self._selectors.by_namespace)
        )

    def stop(self) -> None:
        super().stop()
        self._selectors.stop()
        self._guarded.clear()

    def sync(self, key: Key) -> None:
        stored, selector = self.store.find(self.kind, key[1], key[0]), self._selectors.get(*key)
        if stored is None or selector is None:
            return
        budget = shared_document(stored)
        pods = self._guarded.get(key)
        if pods is None:
            pods = self._guarded[key] = Guarded()
            for row in self.context.pods.in_namespace(key[0]):
                if selector.matches(row.labels):
                    pods.put(row)
        if not pods.count:
            self.record(self.kind, budget, "NoPods", "No matching pods found")
        expected, desired = self._expect(budget, pods)
        now = self.clock.now()
        disrupted = self._disrupted(budget, pods, now)
        healthy = pods.healthy - sum(pods.is_healthy(name) for name in disrupted)
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

    def _expect(self, budget: Document, pods: Guarded) -> tuple[int, int]:
        """How many pods there should be, and how many of them healthy."""
        spec = budget["spec"]
        if spec.get("maxUnavailable") is not None:
            expected = self._scale(budget, pods)
            return expected, max(0, expected - scaled(spec["maxUnavailable"], expected, up=True))
        least = spec.get("minAvailable", 1)
        if isinstance(least, int):
            return pods.count, least
        expected = self._scale(budget, pods)
        return expected, scaled(least, expected, up=True)

    def _scale(self, budget: Document, pods: Guarded) -> int:
        """The sum of the replicas of the pods' controllers; a Deployment replaces its ReplicaSets."""
        wanted: dict[str, int] = {}
        for owner in pods.owners:
            place = SCALES.get(owner.kind)
            namespace = budget["metadata"]["namespace"]
            found = self.store.find(self.context.kind(*place), owner.name, namespace) if place else None
            if found is None:
                continue
            document = shared_document(found)
            parent = controller_of(document)
            if parent is not None and parent["kind"] == "Deployment":
                above = self.store.find(self.context.kind(*SCALES["Deployment"]), parent["name"], namespace)
                document = shared_document(above) if above is not None else document
            wanted[document["metadata"]["uid"]] = document["spec"].get("replicas", 1)
        return sum(wanted.values())

    def _disrupted(self, budget: Document, pods: Guarded, now: int) -> dict[str, str]:
        """Pods whose eviction was granted and that are not terminating yet."""
        granted: dict[str, str] = budget.get("status", {}).get("disruptedPods", {})
        recent = {
            name: when for name, when in granted.items()
            if name not in pods.left and parse_time(when) + FORGOTTEN_AFTER > now
        }  # fmt: skip
        pods.left.clear()
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

    def _changed(self, change: Change) -> None:
        self._selectors.changed(change)
        if change.subresource == "status" and change.writer == self.name:
            return
        key = change.stored.namespace, change.stored.name
        if change.subresource != "status":
            self._guarded.pop(key, None)
        self.enqueue(key)

    def _pod_changed(self, old: PodRow | None, new: PodRow | None) -> None:
        row = new or old
        if row is None:
            return
        before = self._selectors.matching(row.namespace, old.labels) if old is not None else []
        after = self._selectors.matching(row.namespace, new.labels) if new is not None else []
        for name in dict.fromkeys([*before, *after]):
            pods = self._guarded.get((row.namespace, name))
            if pods is not None:
                pods.take_out(row.name)
                if new is None or new.is_deleting:
                    pods.left.add(row.name)
                if new is not None and name in after:
                    pods.put(new)
            self.enqueue((row.namespace, name))


def _selector(budget: Document) -> LabelSelector:
    return LabelSelector.from_document(budget["spec"].get("selector"))
