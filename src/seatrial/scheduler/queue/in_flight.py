"""Pods being scheduled, and what happened meanwhile.

An event that comes while a pod is in flight may be the very one it waits for: it is judged when the pod comes back.
Upstream: pkg/scheduler/backend/queue/active_queue.go (inFlightPods, inFlightEvents).
"""

from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.framework.events import ASSIGNED_ADD, ClusterEvent, label_of

MOST_COMING = 64
"""How many bindings are on their way back at a time."""


class InFlightEvent(NamedTuple):
    """An event with the object before and after it."""

    event: ClusterEvent
    old: Any
    new: Any


class InFlight:
    """A log of events that reaches back to the oldest pod in flight."""

    def __init__(self) -> None:
        self.since: dict[str, int] = {}
        """By uid: the pods, each with the number of events before it was popped. Others may read it: no call."""
        self._log: list[InFlightEvent] = []
        self._start = 0

    def __contains__(self, uid: str) -> bool:
        return uid in self.since

    def __bool__(self) -> bool:
        return bool(self.since)

    def begin(self, uid: str) -> None:
        """A pod is popped."""
        self.since[uid] = self._start + len(self._log)

    def record(self, event: ClusterEvent, old: Any, new: Any) -> None:
        """Something happened; kept only while a pod is in flight."""
        if self.since:
            self._log.append(InFlightEvent(event, old, new))

    def events_for(self, uid: str) -> list[InFlightEvent] | None:
        """What happened since the pod was popped; None where it is not in flight."""
        since = self.since.get(uid)
        return None if since is None else self._log[since - self._start :]

    def counts(self) -> dict[str, int]:
        """Pods in flight and the events kept for them, by upstream's labels."""
        counts = {"PodPopped": len(self.since)}
        for each in self._log:
            label = label_of(each.event)
            counts[label] = counts.get(label, 0) + 1
        return counts

    def end(self, uid: str) -> None:
        """The pod is no longer in flight; events that no pod in flight needs are dropped."""
        if self.since.pop(uid, None) is None or not self._log:
            return
        oldest = next(iter(self.since.values()), self._start + len(self._log))
        del self._log[: oldest - self._start]
        self._start = oldest


class ComingBindings:
    """Bindings whose events upstream receives only after the pods that were queued at that time were tried.

    A binding cycle runs while the next pods are scheduled, and its event comes back by the watch. A pod that fails in
    between is tried again when the event arrives. Here a binding is done at once, so its event is judged as well when a
    pod fails that was queued before it.
    """

    def __init__(self) -> None:
        self._log: deque[PodInfo] = deque(maxlen=MOST_COMING)
        self.count = 0
        """How many there were so far."""

    def add(self, pod: PodInfo) -> None:
        """A pod is bound, while others are queued."""
        self._log.append(pod)
        self.count += 1

    def since(self, count: int) -> Sequence[InFlightEvent]:
        """Those after the first `count`."""
        newer = self.count - count
        return [InFlightEvent(ASSIGNED_ADD, None, pod) for pod in list(self._log)[-newer:]] if newer else ()
