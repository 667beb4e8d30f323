"""ReplicaSet and ReplicationController: as many pods of one template as the spec says.

Upstream: pkg/controller/replicaset, pkg/controller/replication (v1.36).
"""

from collections.abc import Iterable, Mapping
from typing import ClassVar

from seatrial.controllers.controller import Context, Key, Listener, QueueController
from seatrial.controllers.owning import PodClaims, delete_pod, least_wanted, pod_from_template, set_status
from seatrial.controllers.pods import OwnedPods, PodRow
from seatrial.model.documents import Document
from seatrial.model.errors import StatusError
from seatrial.model.kinds import Kind
from seatrial.model.labels import LabelSelector
from seatrial.model.times import SECOND, to_time

BURST = 500
"""Pods created or deleted in one sync at most."""


class ReplicaSet(QueueController):
    """Keeps `.spec.replicas` active pods."""

    name: ClassVar[str] = "replicaset"
    owner: ClassVar[tuple[str, str]] = ("apps/v1", "ReplicaSet")
    counts_terminating: ClassVar[bool] = True

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.kind = context.kind(*self.owner)
        self._pods = context.kind("v1", "Pod")
        self._claims = PodClaims(context, self.kind, self.name)

    def watches(self) -> Mapping[Kind, Listener]:
        return {self.kind: self.enqueue_changed}

    def owners(self) -> Iterable[Kind]:
        return [self.kind]

    def start(self) -> None:
        super().start()
        self._unsubscribe.append(self.context.pods.listen(self._pod_changed))

    def selector(self, document: Document) -> LabelSelector:
        return LabelSelector.from_document(document["spec"]["selector"])

    def sync(self, key: Key) -> None:
        stored = self.store.find(self.kind, key[1], key[0])
        if stored is None:
            return
        owner = stored.document()
        orphans = [row for row in self.context.pods.orphans(key[0]) if row.is_active]
        self._claims.claim(owner, self.selector(owner), orphans)
        failure: StatusError | None = None
        pods = self.context.pods.owned_by(owner["metadata"]["uid"])
        before = pods.active
        if "deletionTimestamp" not in owner["metadata"]:
            failure = self._bring_to(owner, pods, before)
        set_status(self.context, stored, self._status(owner, before, failure), self.name)
        if failure is not None:
            raise failure

    def _bring_to(self, owner: Document, pods: OwnedPods, active: int) -> StatusError | None:
        missing = owner["spec"].get("replicas", 1) - active
        try:
            if missing > 0:
                self._create(owner, min(missing, BURST))
            elif missing < 0:
                self._delete(owner, pods, min(-missing, BURST))
        except StatusError as refusal:
            return refusal
        return None

    def _create(self, owner: Document, count: int) -> None:
        namespace = owner["metadata"]["namespace"]
        for _ in range(count):
            pod = pod_from_template(owner["spec"]["template"], self.kind, owner)
            self.store.create(self._pods, pod, namespace=namespace, writer=self.name)

    def _delete(self, owner: Document, pods: OwnedPods, count: int) -> None:
        for row in least_wanted(pods.active_rows(), self._related(owner, pods), self.clock.now(), count):
            delete_pod(self.context, row, self.name)

    def _related(self, owner: Document, pods: OwnedPods) -> list[PodRow]:
        """The pods of all ReplicaSets of the same Deployment, which count when pods on one node are thinned out."""
        reference = next((ref for ref in owner["metadata"].get("ownerReferences", []) if ref.get("controller")), None)
        if reference is None:
            return list(pods.rows.values())
        related: list[PodRow] = []
        for stored in self.store.list(self.kind, owner["metadata"]["namespace"]):
            meta = stored.document()["metadata"]
            if any(ref["uid"] == reference["uid"] for ref in meta.get("ownerReferences", [])):
                related += self.context.pods.owned_by(meta["uid"]).rows.values()
        return related

    def _status(self, owner: Document, active: int, failure: StatusError | None) -> Document:
        pods = self.context.pods.owned_by(owner["metadata"]["uid"])
        min_ready = owner["spec"].get("minReadySeconds", 0) * SECOND
        available = pods.available(self.clock.now(), min_ready)
        if min_ready and available != pods.ready:
            key = owner["metadata"]["namespace"], owner["metadata"]["name"]
            self.enqueue_after(key, min_ready)
        counts = {
            "replicas": pods.active,
            "fullyLabeledReplicas": pods.labelled(owner["spec"]["template"].get("metadata", {}).get("labels", {})),
            "readyReplicas": pods.ready,
            "availableReplicas": available,
        }
        status: Document = {name: count for name, count in counts.items() if count or name == "replicas"}
        if self.counts_terminating:
            status["terminatingReplicas"] = pods.terminating
        status["observedGeneration"] = owner["metadata"].get("generation", 0)
        conditions = self._conditions(owner, active, failure)
        if conditions:
            status["conditions"] = conditions
        return status

    def _conditions(self, owner: Document, active: int, failure: StatusError | None) -> list[Document]:
        """ReplicaFailure stays as it is while the failure lasts."""
        present: list[Document] = owner.get("status", {}).get("conditions", [])
        others = [condition for condition in present if condition["type"] != "ReplicaFailure"]
        if failure is None:
            return others
        if len(others) < len(present):
            return present
        reason = "FailedCreate" if active < owner["spec"].get("replicas", 1) else "FailedDelete"
        failed = {
            "type": "ReplicaFailure",
            "status": "True",
            "lastTransitionTime": to_time(self.clock.now()),
            "reason": reason,
            "message": failure.message,
        }
        return [*others, failed]

    def _pod_changed(self, old: PodRow | None, new: PodRow | None) -> None:
        for row in (old, new):
            if row is not None and row.owner is not None and row.owner.kind == self.kind.kind:
                self.enqueue((row.namespace, row.owner.name))
        if new is not None and new.owner is None and (old is None or old.owner or old.labels != new.labels):
            self._enqueue_adopters(new)

    def _enqueue_adopters(self, orphan: PodRow) -> None:
        for stored in self.store.list(self.kind, orphan.namespace):
            if self.selector(stored.document()).matches(orphan.labels):
                self.enqueue((stored.namespace, stored.name))


class ReplicationController(ReplicaSet):
    """The same with a plain map as selector."""

    name: ClassVar[str] = "replicationcontroller"
    owner: ClassVar[tuple[str, str]] = ("v1", "ReplicationController")
    counts_terminating: ClassVar[bool] = False

    def selector(self, document: Document) -> LabelSelector:
        return LabelSelector.from_document({"matchLabels": document["spec"].get("selector", {})})
