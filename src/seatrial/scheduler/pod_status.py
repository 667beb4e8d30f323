"""What the scheduler writes into the status of pods: conditions and the nominated node.

Upstream: pkg/scheduler/schedule_one.go (updatePod), pkg/api/v1/pod/util.go (UpdatePodCondition).
"""

from collections.abc import Callable

import msgspec

from seatrial.model.documents import Document
from seatrial.model.times import to_time
from seatrial.scheduler.pods import PodInfo
from seatrial.scheduler.store_cluster import WRITER
from seatrial.store.statuses import write_status
from seatrial.store.store import Store

Edit = Callable[[Document, int], None]
"""Changes a status in place; also told the generation of the pod."""


class _Metadata(msgspec.Struct):
    generation: int = 0


class _Pod(msgspec.Struct):
    metadata: _Metadata
    status: Document | None = None


class PodStatusWriter:
    """Writes the status of pods; nothing is written where nothing changes."""

    def __init__(self, store: Store) -> None:
        self._store = store
        kind = store.kinds.named("v1", "Pod")
        if kind is None:
            raise LookupError("v1 Pod is not served")
        self._kind = kind
        self._decoder = msgspec.json.Decoder(_Pod)

    def not_scheduled(self, pod: PodInfo, reason: str, message: str, nominated: str | None) -> None:
        """PodScheduled is False; the nomination is set, cleared ("") or left as it is (None)."""

        def change(status: Document, generation: int) -> None:
            self._set_condition(status, generation, "PodScheduled", "False", reason, message)
            _nominate(status, nominated)

        self._write(pod, change)

    def nominate(self, pod: PodInfo, node: str) -> None:
        """Only the nomination changes."""
        self._write(pod, lambda status, _: _nominate(status, node))

    def preempted(self, victim: PodInfo, scheduler: str) -> bool:
        """The victim is a DisruptionTarget; False where it is gone already."""
        message = f"{scheduler}: preempting to accommodate a higher priority pod"

        def change(status: Document, generation: int) -> None:
            self._set_condition(status, generation, "DisruptionTarget", "True", "PreemptionByScheduler", message)

        return self._write(victim, change)

    def _write(self, pod: PodInfo, change: Edit) -> bool:
        stored = self._store.find(self._kind, pod.name, pod.namespace)
        if stored is None:
            return False
        present = self._decoder.decode(stored.data)
        status = present.status or {}
        change(status, present.metadata.generation)
        write_status(self._store, stored, status, WRITER)
        return True

    def _set_condition(
        self, document: Document, generation: int, type: str, status: str, reason: str, message: str
    ) -> None:
        conditions: list[Document] = document.setdefault("conditions", [])
        fresh: Document = {"type": type}
        if generation:
            fresh["observedGeneration"] = generation
        fresh |= {
            "status": status,
            "lastProbeTime": None,
            "lastTransitionTime": to_time(self._store.clock.now()),
            "reason": reason,
            "message": message,
        }
        for place, old in enumerate(conditions):
            if old.get("type") == type:
                if old.get("status") == status:
                    fresh["lastTransitionTime"] = old.get("lastTransitionTime")
                    if old.get("reason") == reason and old.get("message") == message:
                        return
                conditions[place] = fresh
                return
        conditions.append(fresh)


def _nominate(status: Document, node: str | None) -> None:
    if node:
        status["nominatedNodeName"] = node
    elif node is not None:
        status.pop("nominatedNodeName", None)
