"""What the scheduler writes into the status of pods: conditions and the nominated node.

Upstream: pkg/scheduler/schedule_one.go (updatePod), pkg/api/v1/pod/util.go (UpdatePodCondition).
"""

from collections.abc import Callable

import msgspec

from seatrial.model.documents import Document, decode, encode
from seatrial.model.times import to_time
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.cache.store_cluster import WRITER
from seatrial.store import Store, View
from seatrial.store.registry import write_status

Edit = Callable[[bytes, int], bytes]
"""An encoded status after a change; the generation of the pod is passed in, too."""


class _Metadata(msgspec.Struct):
    generation: int = 0


class _Pod(msgspec.Struct):
    metadata: _Metadata


_POD = View(_Pod)


class PodStatusWriter:
    """Writes the status of pods; nothing is written where nothing changes."""

    def __init__(self, store: Store, writer: str = WRITER) -> None:
        self._store = store
        self._writer = writer
        self._kind = store.kinds.served("v1", "Pod")

    def not_scheduled(self, pod: PodInfo, reason: str, message: str, nominated: str | None) -> None:
        """PodScheduled is False; the nomination is set, cleared ("") or left as it is (None)."""
        now = to_time(self._store.clock.now())
        once = self._store.views.once
        self._write(pod, lambda status, age: once(_rejected, status, age, now, reason, message, nominated))

    def nominate(self, pod: PodInfo, node: str) -> None:
        """Only the nomination changes."""

        def change(encoded: bytes, generation: int) -> bytes:
            status = decode(encoded) or {}
            _nominate(status, node)
            return encode(status)

        self._write(pod, change)

    def preempted(self, victim: PodInfo, scheduler: str) -> bool:
        """The victim is a DisruptionTarget; False where it is gone already."""
        message = f"{scheduler}: preempting to accommodate a higher priority pod"
        now = to_time(self._store.clock.now())
        once = self._store.views.once
        return self._write(victim, lambda status, age: once(_disrupted, status, age, now, message))

    def _write(self, pod: PodInfo, change: Edit) -> bool:
        stored = self._store.find(self._kind, pod.name, pod.namespace)
        if stored is None:
            return False
        status = change(stored.encoded_status or b"null", _POD.read(stored).metadata.generation)
        write_status(self._store, stored, status, self._writer)
        return True


def _rejected(encoded: bytes, generation: int, now: str, reason: str, message: str, nominated: str | None) -> bytes:
    """The status of a pod that was not scheduled; pods of one template that fail together share it."""
    status = decode(encoded) or {}
    _set_condition(status, _condition(generation, now, "PodScheduled", "False", reason, message))
    _nominate(status, nominated)
    return encode(status)


def _disrupted(encoded: bytes, generation: int, now: str, message: str) -> bytes:
    """The status of a victim; victims that started together share it."""
    status = decode(encoded) or {}
    _set_condition(status, _condition(generation, now, "DisruptionTarget", "True", "PreemptionByScheduler", message))
    return encode(status)


def _condition(generation: int, now: str, type: str, status: str, reason: str, message: str) -> Document:
    return {
        "type": type,
        **({"observedGeneration": generation} if generation else {}),
        "status": status,
        "lastProbeTime": None,
        "lastTransitionTime": now,
        "reason": reason,
        "message": message,
    }


def _set_condition(document: Document, fresh: Document) -> None:
    conditions: list[Document] = document.setdefault("conditions", [])
    for place, old in enumerate(conditions):
        if old.get("type") == fresh["type"]:
            if old.get("status") == fresh["status"]:
                fresh["lastTransitionTime"] = old.get("lastTransitionTime")
                if old.get("reason") == fresh["reason"] and old.get("message") == fresh["message"]:
                    return
            conditions[place] = fresh
            return
    conditions.append(fresh)


def _nominate(status: Document, node: str | None) -> None:
    if node:
        status["nominatedNodeName"] = node
    elif node is not None:
        status.pop("nominatedNodeName", None)
