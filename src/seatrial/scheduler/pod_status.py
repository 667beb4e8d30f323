"""What the scheduler writes into the status of pods: conditions and the nominated node.

Upstream: pkg/scheduler/schedule_one.go (updatePod), pkg/api/v1/pod/util.go (UpdatePodCondition).
"""

from collections.abc import Callable

from seatrial.model.documents import Document
from seatrial.model.errors import NotFound, StatusError
from seatrial.model.times import to_time
from seatrial.scheduler.pods import PodInfo
from seatrial.scheduler.store_cluster import WRITER
from seatrial.store.store import Store


class PodStatusWriter:
    """Writes the status of pods; nothing is written where nothing changes."""

    def __init__(self, store: Store) -> None:
        self._store = store
        kind = store.kinds.named("v1", "Pod")
        if kind is None:
            raise LookupError("v1 Pod is not served")
        self._kind = kind

    def not_scheduled(self, pod: PodInfo, reason: str, message: str, nominated: str | None) -> None:
        """PodScheduled is False; the nomination is set, cleared ("") or left as it is (None).

        What the API refuses is left out, as upstream does: the next attempt writes it again.
        """

        def change(document: Document) -> None:
            self._set_condition(document, "PodScheduled", "False", reason, message)
            _nominate(document, nominated)

        self._try(pod, change)

    def nominate(self, pod: PodInfo, node: str) -> None:
        """Only the nomination changes."""
        self._try(pod, lambda document: _nominate(document, node))

    def preempted(self, victim: PodInfo, scheduler: str) -> bool:
        """The victim is a DisruptionTarget; False where it is gone already, a StatusError where the API refuses."""
        message = f"{scheduler}: preempting to accommodate a higher priority pod"

        def change(document: Document) -> None:
            self._set_condition(document, "DisruptionTarget", "True", "PreemptionByScheduler", message)

        return self._write(victim, change)

    def _try(self, pod: PodInfo, change: Callable[[Document], None]) -> None:
        try:
            self._write(pod, change)
        except StatusError:
            return

    def _write(self, pod: PodInfo, change: Callable[[Document], None]) -> bool:
        try:
            self._store.modify(
                self._kind, pod.name, change, writer=WRITER, namespace=pod.namespace, subresource="status"
            )
        except NotFound:
            return False
        return True

    def _set_condition(self, document: Document, type: str, status: str, reason: str, message: str) -> None:
        conditions = document.setdefault("status", {}).setdefault("conditions", [])
        fresh = {
            "type": type,
            "observedGeneration": document["metadata"].get("generation", 0),
            "status": status,
            "lastProbeTime": None,
            "lastTransitionTime": to_time(self._store.clock.now()),
            "reason": reason,
            "message": message,
        }
        if not fresh["observedGeneration"]:
            del fresh["observedGeneration"]
        for place, old in enumerate(conditions):
            if old.get("type") == type:
                if old.get("status") == status:
                    fresh["lastTransitionTime"] = old.get("lastTransitionTime")
                    if old.get("reason") == reason and old.get("message") == message:
                        return
                conditions[place] = fresh
                return
        conditions.append(fresh)


def _nominate(document: Document, node: str | None) -> None:
    if node is None:
        return
    status = document.setdefault("status", {})
    if node:
        status["nominatedNodeName"] = node
    else:
        status.pop("nominatedNodeName", None)
