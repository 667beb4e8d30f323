"""ReplicaSet and ReplicationController: keep `.spec.replicas` pods of one template.

Upstream: pkg/controller/replicaset, pkg/controller/replication (v1.36).
"""

from typing import ClassVar

from seatrial.controllers.framework.controller import Key
from seatrial.controllers.framework.pod_control import (
    PodOwner,
    controller_of,
    least_wanted,
    pod_from_template,
    set_status,
)
from seatrial.controllers.framework.pod_index import OwnedPods
from seatrial.controllers.framework.pod_row import PodRow
from seatrial.model.documents import Document
from seatrial.model.errors import StatusError
from seatrial.model.label_selectors import LabelSelector
from seatrial.model.times import SECOND, to_time
from seatrial.store import shared_document

BURST = 500
"""Pods created or deleted in one sync at most."""


class ReplicaSet(PodOwner):
    """Keeps `.spec.replicas` active pods."""

    name: ClassVar[str] = "replicaset"
    component: ClassVar[str] = "replicaset-controller"
    owner: ClassVar[tuple[str, str]] = ("apps/v1", "ReplicaSet")
    counts_terminating: ClassVar[bool] = True

    def sync(self, key: Key) -> None:
        stored = self.store.find(self.kind, key[1], key[0])
        if stored is None:
            return
        owner = shared_document(stored)
        self.claim(owner)
        pods = self.context.pods.owned_by(owner["metadata"]["uid"])
        missing = owner["spec"].get("replicas", 1) - pods.active
        failure: StatusError | None = None
        if missing and "deletionTimestamp" not in owner["metadata"]:
            failure = self._bring_nearer(owner, pods, missing)
        set_status(self.context, stored, self._status(owner, missing, failure), self.name)
        if failure is not None:
            raise failure
        if abs(missing) > BURST:
            self.enqueue(key)

    def _bring_nearer(self, owner: Document, pods: OwnedPods, missing: int) -> StatusError | None:
        try:
            if missing > 0:
                self._create(owner, min(missing, BURST))
            else:
                self._delete(owner, pods, min(-missing, BURST))
        except StatusError as refusal:
            return refusal
        return None

    def _create(self, owner: Document, count: int) -> None:
        for _ in range(count):
            pod = pod_from_template(owner["spec"]["template"], self.kind, owner)
            self.create_pod(pod, owner["metadata"]["namespace"])

    def _delete(self, owner: Document, pods: OwnedPods, count: int) -> None:
        for row in least_wanted(pods.active_rows(), self._related(owner, pods), self.clock.now(), count):
            self.delete_pod(row)

    def _related(self, owner: Document, pods: OwnedPods) -> list[PodRow]:
        """The pods of all ReplicaSets of the same Deployment, counted per node to rank pods for deletion."""
        reference = controller_of(owner)
        if reference is None:
            return list(pods.rows.values())
        related: list[PodRow] = []
        for stored in self.store.list(self.kind, owner["metadata"]["namespace"]):
            document = stored.document()
            if (controller_of(document) or {}).get("uid") == reference["uid"]:
                related += self.rows(document)
        return related

    def _status(self, owner: Document, missing: int, failure: StatusError | None) -> Document:
        pods = self.context.pods.owned_by(owner["metadata"]["uid"])
        min_ready = owner["spec"].get("minReadySeconds", 0) * SECOND
        available = pods.available(self.clock.now(), min_ready)
        if min_ready and available != pods.ready:
            self._look_again((owner["metadata"]["namespace"], owner["metadata"]["name"]), pods, min_ready)
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
        conditions = self._conditions(owner, missing, failure)
        if conditions:
            status["conditions"] = conditions
        return status

    def _look_again(self, key: Key, pods: OwnedPods, min_ready: int) -> None:
        """Enqueue the owner for when the next pod becomes available."""
        now = self.clock.now()
        waiting = [row.ready_since for row in pods.active_rows() if row.ready_since is not None]
        due = [since + min_ready - now for since in waiting if since + min_ready > now]
        if due:
            self.enqueue_after(key, min(due))

    def _conditions(self, owner: Document, missing: int, failure: StatusError | None) -> list[Document]:
        """ReplicaFailure stays as it is while the failure lasts."""
        present: list[Document] = owner.get("status", {}).get("conditions", [])
        others = [condition for condition in present if condition["type"] != "ReplicaFailure"]
        if failure is None:
            return others
        if len(others) < len(present):
            return present
        failed = {
            "type": "ReplicaFailure",
            "status": "True",
            "lastTransitionTime": to_time(self.clock.now()),
            "reason": "FailedCreate" if missing > 0 else "FailedDelete",
            "message": failure.message,
        }
        return [*others, failed]


class ReplicationController(ReplicaSet):
    """The same with a plain map as selector."""

    name: ClassVar[str] = "replicationcontroller"
    component: ClassVar[str] = "replication-controller"
    owner: ClassVar[tuple[str, str]] = ("v1", "ReplicationController")
    counts_terminating: ClassVar[bool] = False

    def selector(self, document: Document) -> LabelSelector:
        return LabelSelector.from_document({"matchLabels": document["spec"].get("selector", {})})
