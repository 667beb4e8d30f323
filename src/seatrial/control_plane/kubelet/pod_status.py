"""Keeps what a kubelet reports of a pod that runs: the generation it has seen, ephemeral containers, its deadline.

Upstream: pkg/kubelet/status/status_manager.go (observedGeneration), pkg/kubelet/active_deadline.go (v1.36).
"""

from collections.abc import Iterable, Mapping
from typing import ClassVar

import msgspec

from seatrial.controllers.framework import Context, Key, Listener, QueueController
from seatrial.model.documents import Document
from seatrial.model.errors import NotFound
from seatrial.model.kinds import Kind
from seatrial.model.times import SECOND, parse_time, to_time
from seatrial.store import Change

REASON = "DeadlineExceeded"
MESSAGE = "Pod was active on the node longer than the specified deadline"
REPORTED = frozenset({"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady"})
"""Conditions that the kubelet sets."""


class Meta(msgspec.Struct, rename="camel"):
    generation: int = 0
    deletion_timestamp: str | None = None


class Named(msgspec.Struct):
    name: str


class Spec(msgspec.Struct, rename="camel"):
    active_deadline_seconds: int | None = None
    ephemeral_containers: list[Named] = []


class Status(msgspec.Struct, rename="camel"):
    phase: str = ""
    observed_generation: int = 0
    start_time: str | None = None
    ephemeral_container_statuses: list[Named] = []


class RunningPod(msgspec.Struct):
    """The fields of a pod that its report depends on."""

    metadata: Meta
    spec: Spec = msgspec.field(default_factory=Spec)
    status: Status = msgspec.field(default_factory=Status)

    @property
    def is_unseen(self) -> bool:
        """Whether the status lacks something that the spec has got since it was written."""
        is_new = len(self.spec.ephemeral_containers) > len(self.status.ephemeral_container_statuses)
        return self.status.phase == "Running" and (
            is_new or self.status.observed_generation != self.metadata.generation
        )

    @property
    def deadline(self) -> int | None:
        """When the pod ends; None where it has no deadline, or has ended."""
        seconds, started = self.spec.active_deadline_seconds, self.status.start_time
        if seconds is None or not started or self.status.phase not in ("Pending", "Running"):
            return None
        return parse_time(started) + seconds * SECOND


_decoder = msgspec.json.Decoder(RunningPod)


class PodStatus(QueueController):
    """Completes the status of running pods."""

    name: ClassVar[str] = "podstatus"
    reads_pods: ClassVar[bool] = False

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.kind = context.kind("v1", "Pod")

    def watches(self) -> Mapping[Kind, Listener]:
        return {self.kind: self._changed}

    def owners(self) -> Iterable[Kind]:
        return ()

    def start(self) -> None:
        super().start()
        for stored in self.store.list(self.kind):  # pods that run already are left as they are, but for deadlines
            if _decoder.decode(stored.data).deadline is not None:
                self.enqueue((stored.namespace, stored.name))

    def sync(self, key: Key) -> None:
        stored = self.store.find(self.kind, key[1], key[0])
        if stored is None:
            return
        pod, now = _decoder.decode(stored.data), self.clock.now()
        deadline = pod.deadline
        if deadline is not None and deadline > now:
            self.enqueue_after(key, deadline - now)
        is_over = deadline is not None and deadline <= now
        if is_over or pod.is_unseen:
            self._report(key, is_over)

    def _report(self, key: Key, is_over: bool) -> None:
        def change(pod: Document) -> None:
            status, generation = pod.setdefault("status", {}), pod["metadata"].get("generation", 0)
            status["observedGeneration"] = generation
            self._start_ephemeral_containers(pod["spec"], status)
            if is_over:
                status |= {"phase": "Failed", "reason": REASON, "message": MESSAGE}
            for condition in status.get("conditions") or []:
                if condition["type"] in REPORTED:
                    condition["observedGeneration"] = generation
                if is_over and condition["type"] in ("Ready", "ContainersReady"):
                    condition |= {"status": "False", "reason": "PodFailed", "lastTransitionTime": self._now()}

        try:
            self.store.modify(self.kind, key[1], change, namespace=key[0], subresource="status", writer=self.name)
        except NotFound:
            return

    def _start_ephemeral_containers(self, spec: Document, status: Document) -> None:
        known = status.get("ephemeralContainerStatuses") or []
        for container in (spec.get("ephemeralContainers") or [])[len(known) :]:
            state = {"running": {"startedAt": self._now()}}
            own = {"name": container["name"], "image": container.get("image", ""), "imageID": ""}
            known = [*known, own | {"ready": False, "restartCount": 0, "state": state}]
        if known:
            status["ephemeralContainerStatuses"] = known

    def _now(self) -> str:
        return to_time(self.clock.now())

    def _changed(self, change: Change) -> None:
        if change.type == "DELETED":
            return
        pod = _decoder.decode(change.stored.data)
        if (pod.is_unseen and change.previous is not None) or pod.deadline is not None:
            self.enqueue((change.stored.namespace, change.stored.name))
