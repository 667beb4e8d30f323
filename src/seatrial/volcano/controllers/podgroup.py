"""The PodGroup controller: every pod that Volcano schedules belongs to a PodGroup, so it makes the missing ones.

Pods of one controller share a PodGroup, named after the uid of their owner; a bare pod has one of its own.
Upstream: pkg/controllers/podgroup, with its default options (annotations are inherited from owners).
"""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final

from seatrial.controllers.framework import Context, Key, Listener, QueueController, controller_of, controller_reference
from seatrial.model.documents import Document
from seatrial.model.errors import NotFound
from seatrial.model.kinds import Kind
from seatrial.store import Change, Stored
from seatrial.volcano.apis import POD_GROUP, SCHEDULER_NAME, SCHEDULING, labels
from seatrial.volcano.controllers.job.pod_group import pod_usage

PREFIX: Final = "podgroup-"
WORKLOADS: Final = {
    "ReplicaSet": "apps/v1",
    "DaemonSet": "apps/v1",
    "StatefulSet": "apps/v1",
    "Job": "batch/v1",
}
"""Owners whose annotations a PodGroup inherits."""
_MARK: Final = f'"schedulerName":"{SCHEDULER_NAME}"'.encode()
_GROUPED: Final = f'"{labels.GROUP_NAME}"'.encode()
_OWN_ANNOTATIONS: Final = (labels.PREEMPTABLE, labels.COOLDOWN_TIME, labels.REVOCABLE_ZONE)
_OWN_LABELS: Final = (labels.PREEMPTABLE, labels.COOLDOWN_TIME)


class VolcanoPodGroup(QueueController):
    """Makes PodGroups for pods that have none, and takes away those of workloads scaled to zero."""

    name: ClassVar[str] = "volcano-podgroup"
    reads_pods: ClassVar[bool] = False

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._pods = context.kind("v1", "Pod")
        self._groups = context.kind(*POD_GROUP)
        self._workloads = {name: context.kind(version, name) for name, version in WORKLOADS.items()}

    def watches(self) -> Mapping[Kind, Listener]:
        scaled = [self._workloads["ReplicaSet"], self._workloads["StatefulSet"]]
        return {self._pods: self._pod_changed} | dict.fromkeys(scaled, self._workload_changed)

    def owners(self) -> Iterable[Kind]:
        return []

    def start(self) -> None:
        super().start()
        for stored in self.store.list(self._pods):
            self._look_at(stored)

    def sync(self, key: Key) -> None:
        stored = self.store.find(self._pods, key[1], key[0])
        if stored is None:
            return
        pod = stored.document()
        if pod["spec"].get("schedulerName") != SCHEDULER_NAME or _annotations(pod).get(labels.GROUP_NAME):
            return
        name = group_name(pod)
        if self.store.find(self._groups, name, key[0]) is None:
            self.store.create(self._groups, self._group(pod, name), namespace=key[0], writer=self.name)

        def join(document: Document) -> None:
            document["metadata"].setdefault("annotations", {})[labels.GROUP_NAME] = name

        self.store.modify(self._pods, key[1], join, namespace=key[0], writer=self.name)

    def _group(self, pod: Document, name: str) -> Document:
        inherited = self._inherited(pod)
        least = _least(inherited)
        notes = {key: value for key, value in inherited.items() if key.startswith(labels.PREFIX)}
        own, own_labels = _annotations(pod), pod["metadata"].get("labels") or {}
        notes |= {key: own[key] for key in _OWN_ANNOTATIONS if key in own}
        budget = next((key for key in (labels.JDB_MIN_AVAILABLE, labels.JDB_MAX_UNAVAILABLE) if key in own), None)
        if budget is not None:
            notes[budget] = own[budget]
        usage = pod_usage(pod, self.store)
        spec: dict[str, Any] = {
            "minMember": least,
            "minResources": {name: str(amount * least) for name, amount in usage.items()} if least else {},
        }
        if pod["spec"].get("priorityClassName"):
            spec["priorityClassName"] = pod["spec"]["priorityClassName"]
        if labels.QUEUE_NAME in own:
            spec["queue"] = own[labels.QUEUE_NAME]
        topology = _topology(own)
        if topology is not None:
            spec["networkTopology"] = topology
        return {
            "apiVersion": SCHEDULING,
            "kind": "PodGroup",
            "metadata": {
                "name": name,
                "annotations": notes,
                "labels": {key: own_labels[key] for key in _OWN_LABELS if key in own_labels},
                "ownerReferences": self._owners(pod),
            },
            "spec": spec,
            "status": {"phase": "Pending"},
        }

    def _owners(self, pod: Document) -> list[Document]:
        if controller_of(pod) is not None:
            owners: list[Document] = pod["metadata"]["ownerReferences"]
            return owners
        return [controller_reference(self._pods, pod)]

    def _inherited(self, pod: Document) -> dict[str, str]:
        """The annotations of a pod's owners; the first that has one decides."""
        found: dict[str, str] = {}
        for reference in pod["metadata"].get("ownerReferences") or ():
            kind = self._workloads.get(reference["kind"])
            if kind is None or reference["apiVersion"] != kind.api_version:
                continue
            owner = self.store.find(kind, reference["name"], pod["metadata"]["namespace"])
            if owner is not None:
                found = {**_annotations(owner.document()), **found}
        return found

    def _pod_changed(self, change: Change) -> None:
        if change.type == "ADDED":
            self._look_at(change.stored)

    def _look_at(self, stored: Stored) -> None:
        if _MARK in stored.data and _GROUPED not in stored.data:
            self.enqueue((stored.namespace, stored.name))

    def _workload_changed(self, change: Change) -> None:
        if change.type == "DELETED" or change.subresource == "status":
            return
        document = change.stored.document()
        if document["spec"].get("replicas") != 0:
            return
        name = PREFIX + document["metadata"]["uid"]
        try:
            self.store.delete(self._groups, name, namespace=change.stored.namespace, writer=self.name)
        except NotFound:
            return


def group_name(pod: Document) -> str:
    """The name of the PodGroup of a pod that names none."""
    owner = controller_of(pod)
    uid: str = owner["uid"] if owner is not None else pod["metadata"]["uid"]
    return PREFIX + uid


def _annotations(document: Document) -> dict[str, str]:
    found: dict[str, str] = document["metadata"].get("annotations") or {}
    return found


def _least(annotations: dict[str, str]) -> int:
    """How many pods must run together, as the owner says; 1 where it says nothing sensible."""
    text = annotations.get(labels.GROUP_MIN_MEMBER, "1")
    return int(text) if text.isascii() and text.isdigit() else 1


def _topology(annotations: dict[str, str]) -> Document | None:
    mode = annotations.get(labels.NETWORK_TOPOLOGY_MODE)
    tier = annotations.get(labels.NETWORK_TOPOLOGY_HIGHEST_TIER)
    if mode is None and tier is None:
        return None
    found: Document = {"mode": mode.lower() if mode is not None and mode.lower() in ("hard", "soft") else "hard"}
    if tier is not None and tier.isascii() and tier.isdigit():
        found["highestTierAllowed"] = int(tier)
    return found
