"""DaemonSet: one pod on every node that wants one.

Upstream: pkg/controller/daemon (v1.36). Pods are made for a node by an affinity to its name; the scheduler binds them.
"""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from seatrial.controllers.controller import Context, Key, Listener, QueueController
from seatrial.controllers.history import History
from seatrial.controllers.owning import PodClaims, delete_pod, pod_from_template, set_status
from seatrial.controllers.pods import PodRow
from seatrial.controllers.rollout import scaled
from seatrial.controllers.tainteviction import tolerates
from seatrial.model.documents import Document
from seatrial.model.kinds import Kind
from seatrial.model.labels import LabelSelector, NodeSelectorTerm
from seatrial.model.times import SECOND
from seatrial.store.objects import Change, Stored

REVISION = "controller-revision-hash"
GENERATION = "deprecated.daemonset.template.generation"
TOLERATED = (
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
)
ON_HOST_NETWORK = ("node.kubernetes.io/network-unavailable", "NoSchedule")


class DaemonSet(QueueController):
    """Keeps one pod a node."""

    name: ClassVar[str] = "daemonset"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.kind = context.kind("apps/v1", "DaemonSet")
        self._nodes = context.kind("v1", "Node")
        self._pods = context.kind("v1", "Pod")
        self._claims = PodClaims(context, self.kind, self.name)
        self._history = History(context, self.kind, self.name, REVISION)

    def watches(self) -> Mapping[Kind, Listener]:
        return {self.kind: self.enqueue_changed, self._nodes: self._node_changed}

    def owners(self) -> Iterable[Kind]:
        return [self.kind]

    def start(self) -> None:
        super().start()
        self._unsubscribe.append(self.context.pods.listen(self._pod_changed))

    def sync(self, key: Key) -> None:
        stored = self.store.find(self.kind, key[1], key[0])
        if stored is None:
            return
        owner = stored.document()
        selector = LabelSelector.from_document(owner["spec"]["selector"])
        self._claims.claim(owner, selector, self.context.pods.orphans(key[0]))
        revisions = self._history.of(owner)
        current = self._history.current(owner, revisions)
        hashed = current["metadata"]["labels"][REVISION]
        wishes = self._wishes(owner)
        if "deletionTimestamp" not in owner["metadata"]:
            self._place(owner, wishes, hashed)
            if owner["spec"].get("updateStrategy", {}).get("type", "RollingUpdate") == "RollingUpdate":
                self._roll(owner, wishes, hashed)
            live = {current["metadata"]["name"]}
            used = {row.labels.get(REVISION) for row in self._rows(owner)}
            live |= {r["metadata"]["name"] for r in revisions if r["metadata"]["labels"].get(REVISION) in used}
            self._history.forget(owner, revisions, live)
        self._write_status(stored, owner, wishes, hashed)

    # Which node wants a pod.

    def _wishes(self, owner: Document) -> dict[str, tuple[bool, bool]]:
        """For each node: should a pod be started there, and may one that runs stay."""
        wishes: dict[str, tuple[bool, bool]] = {}
        template = owner["spec"]["template"]["spec"]
        for stored in self.store.list(self._nodes):
            wishes[stored.name] = should_run(template, stored.document())
        return wishes

    def _place(self, owner: Document, wishes: dict[str, tuple[bool, bool]], hashed: str) -> None:
        by_node = self._by_node(owner)
        for node, (should_start, may_stay) in wishes.items():
            rows = by_node.pop(node, [])
            failed = [row for row in rows if row.phase in ("Failed", "Succeeded") and not row.is_deleting]
            alive = [row for row in rows if row not in failed]
            if may_stay:
                for row in failed:
                    delete_pod(self.context, row, self.name)
                for row in sorted(alive, key=lambda row: (not row.is_ready, row.created, row.name))[1:]:
                    if not self._may_surge(owner):
                        delete_pod(self.context, row, self.name)
            else:
                for row in alive + failed:
                    if not row.is_deleting:
                        delete_pod(self.context, row, self.name)
            if should_start and not alive:
                self._create(owner, node, hashed)
        for rows in by_node.values():
            for row in rows:
                if not row.is_deleting:
                    delete_pod(self.context, row, self.name)

    def _create(self, owner: Document, node: str, hashed: str) -> None:
        pod = pod_from_template(owner["spec"]["template"], self.kind, owner)
        labels = pod["metadata"].get("labels", {}) | {REVISION: hashed}
        generation = owner["metadata"].get("annotations", {}).get(GENERATION)
        if generation is not None:
            labels["pod-template-generation"] = generation
        pod["metadata"]["labels"] = labels
        pod["spec"] = _for_node(pod["spec"], node)
        self.store.create(self._pods, pod, namespace=owner["metadata"]["namespace"], writer=self.name)

    # Rolling update.

    def _roll(self, owner: Document, wishes: dict[str, tuple[bool, bool]], hashed: str) -> None:
        desired = sum(should for should, _ in wishes.values())
        rolling = owner["spec"].get("updateStrategy", {}).get("rollingUpdate") or {}
        surge = scaled(rolling.get("maxSurge", 0), desired, up=True)
        most = scaled(rolling.get("maxUnavailable", 1), desired, up=True)
        by_node = {node: rows for node, rows in self._by_node(owner).items() if wishes.get(node, (False, False))[0]}
        if surge == 0:
            self._replace_in_place(owner, by_node, desired, most or 1, hashed)
        else:
            self._replace_by_surge(owner, by_node, surge, hashed)

    def _replace_in_place(
        self, owner: Document, by_node: dict[str, list[PodRow]], desired: int, most: int, hashed: str
    ) -> None:
        unavailable = desired - sum(any(self._is_available(owner, row) for row in rows) for rows in by_node.values())
        outdated = [row for rows in by_node.values() for row in rows if row.labels.get(REVISION) != hashed]
        for row in [row for row in outdated if not self._is_available(owner, row) and not row.is_deleting]:
            delete_pod(self.context, row, self.name)
        for row in [row for row in outdated if self._is_available(owner, row)]:
            if unavailable >= most:
                return
            delete_pod(self.context, row, self.name)
            unavailable += 1

    def _replace_by_surge(self, owner: Document, by_node: dict[str, list[PodRow]], surge: int, hashed: str) -> None:
        surging = 0
        waiting: list[str] = []
        for node, rows in by_node.items():
            old = [row for row in rows if row.labels.get(REVISION) != hashed and not row.is_deleting]
            new = [row for row in rows if row.labels.get(REVISION) == hashed]
            if not old:
                continue
            if any(self._is_available(owner, row) for row in new):
                delete_pod(self.context, old[0], self.name)
            elif new:
                surging += 1
            else:
                waiting.append(node)
        for node in waiting[: max(0, surge - surging)]:
            self._create(owner, node, hashed)

    @staticmethod
    def _may_surge(owner: Document) -> bool:
        rolling = owner["spec"].get("updateStrategy", {}).get("rollingUpdate") or {}
        return rolling.get("maxSurge", 0) not in (0, "0%")

    # Reading and status.

    def _rows(self, owner: Document) -> list[PodRow]:
        return list(self.context.pods.owned_by(owner["metadata"]["uid"]).rows.values())

    def _by_node(self, owner: Document) -> dict[str, list[PodRow]]:
        by_node: dict[str, list[PodRow]] = {}
        for row in self._rows(owner):
            by_node.setdefault(row.node or self._target(row), []).append(row)
        return by_node

    def _target(self, row: PodRow) -> str:
        """The node that a pod not yet bound was made for."""
        pod = self.store.get(self._pods, row.name, row.namespace).document()
        required = pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        return str(required["nodeSelectorTerms"][0]["matchFields"][0]["values"][0])

    def _is_available(self, owner: Document, row: PodRow) -> bool:
        return row.is_available(self.clock.now(), owner["spec"].get("minReadySeconds", 0) * SECOND)

    def _write_status(self, stored: Stored, owner: Document, wishes: dict[str, tuple[bool, bool]], hashed: str) -> None:
        by_node = self._by_node(owner)
        wanted = [by_node.get(node, []) for node, (should_start, _) in wishes.items() if should_start]
        oldest = [min(rows, key=lambda row: (row.created, row.name)) for rows in wanted if rows]
        ready = [row for row in oldest if row.is_ready]
        available = sum(self._is_available(owner, row) for row in ready)
        status: Document = {
            "currentNumberScheduled": len(oldest),
            "numberMisscheduled": sum(
                bool(by_node.get(node)) for node, (should_start, _) in wishes.items() if not should_start
            ),
            "desiredNumberScheduled": len(wanted),
            "numberReady": len(ready),
            "observedGeneration": owner["metadata"].get("generation", 0),
            "updatedNumberScheduled": sum(row.labels.get(REVISION) == hashed for row in oldest),
            "numberAvailable": available,
            "numberUnavailable": len(wanted) - available,
        }
        optional = ("updatedNumberScheduled", "numberAvailable", "numberUnavailable")
        status = {field: value for field, value in status.items() if value or field not in optional}
        set_status(self.context, stored, status, self.name)
        min_ready = owner["spec"].get("minReadySeconds", 0) * SECOND
        if min_ready and available != len(ready):
            self.enqueue_after((stored.namespace, stored.name), min_ready)

    # Who is woken by what.

    def _node_changed(self, change: Change) -> None:
        if change.type == "MODIFIED" and change.subresource == "status" and change.previous is not None:
            before, after = change.previous.document(), change.stored.document()
            if before["spec"] == after["spec"] and before["metadata"].get("labels") == after["metadata"].get("labels"):
                return
        for stored in self.store.list(self.kind):
            self.enqueue((stored.namespace, stored.name))

    def _pod_changed(self, old: PodRow | None, new: PodRow | None) -> None:
        for row in (old, new):
            if row is not None and row.owner is not None and row.owner.kind == self.kind.kind:
                self.enqueue((row.namespace, row.owner.name))


def should_run(template: Document, node: Document) -> tuple[bool, bool]:
    """Whether a pod should be started on a node, and whether one that runs there may stay."""
    if template.get("nodeName") not in (None, "", node["metadata"]["name"]):
        return False, False
    labels = node["metadata"].get("labels", {})
    wanted = template.get("nodeSelector", {})
    required = (template.get("affinity", {}).get("nodeAffinity") or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    )
    if not wanted.items() <= labels.items() or (required and not _is_selected(required, node)):
        return False, False
    tolerations = [*template.get("tolerations", []), *_tolerations(template)]
    taints = [
        taint
        for taint in node.get("spec", {}).get("taints", [])
        if taint["effect"] in ("NoSchedule", "NoExecute") and not any(tolerates(t, taint) for t in tolerations)
    ]
    return not taints, not any(taint["effect"] == "NoExecute" for taint in taints)


def _is_selected(required: Document, node: Document) -> bool:
    terms = (NodeSelectorTerm(term) for term in required.get("nodeSelectorTerms", []))
    meta = node["metadata"]
    return any(term.matches(meta.get("labels", {}), meta["name"]) for term in terms)


def _tolerations(template: Document) -> list[dict[str, Any]]:
    tolerated = [*TOLERATED, *([ON_HOST_NETWORK] if template.get("hostNetwork") else [])]
    return [{"key": key, "operator": "Exists", "effect": effect} for key, effect in tolerated]


def _for_node(spec: Document, node: str) -> Document:
    """The template's spec, tied to one node by name and tolerant of what nodes go through."""
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    affinity = dict(spec.get("affinity") or {})
    node_affinity = dict(affinity.get("nodeAffinity") or {})
    node_affinity["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    affinity["nodeAffinity"] = node_affinity
    present = spec.get("tolerations", [])
    added = [toleration for toleration in _tolerations(spec) if toleration not in present]
    return spec | {"affinity": affinity, "tolerations": [*present, *added]}
