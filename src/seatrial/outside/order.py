"""Which of the requests at the gate is carried out next.

Operations of a simulated controller pass one by one, each a loop of its own (KEP-140: a minor step); deletions of pods
that wait at the same moment, the victims of one preemption, pass together. Verdicts on pods pass in the order in which
a scheduler with PrioritySort makes them: a bind runs in a goroutine of its own, so requests may overtake each other.
"""

import time
from collections.abc import Sequence

from seatrial.outside.pods import Key, PendingPods
from seatrial.outside.requests import PODS, Held, Sort

PATIENCE = 0.05
"""Seconds for which a verdict waits for one that is expected before it."""
SURPRISES = 5
"""After so many verdicts that were not in the expected order there is no more waiting: the scheduler has its own."""


class Order:
    """Chooses the next request."""

    def __init__(self, pods: PendingPods | None) -> None:
        self._pods = pods
        self._surprises = 0

    def next(self, waiting: Sequence[Held]) -> tuple[list[Held], float | None]:
        """The requests to let through now, or none and the seconds after which to ask again."""
        if not waiting:
            return [], None
        coming = {held.pod for held in waiting if held.pod is not None}
        ready = [held for held in waiting if held.pod is None or self._is_first(held.pod, coming)]
        first = min(ready, key=lambda held: held.arrived, default=None)
        if first is None or first.pod is None:
            return (_together(first, waiting) if first is not None else []), None
        patience = self._patience(first, coming)
        return ([], patience) if patience is not None else ([first], None)

    def _is_first(self, pod: Key, coming: "set[Key]") -> bool:
        return self._pods is None or not any(self._pods.is_before(other, pod) for other in coming if other != pod)

    def _patience(self, held: Held, coming: "set[Key]") -> float | None:
        """How long to wait for an earlier verdict; None: no longer."""
        pod = held.pod
        if pod is None or self._pods is None or self._surprises >= SURPRISES:
            return None
        if not self._pods.has_untried_before(pod, coming):
            return None
        left = held.arrived + PATIENCE - time.monotonic()
        if left > 0:
            return left
        self._surprises += 1
        return None


def _together(first: Held, waiting: Sequence[Held]) -> list[Held]:
    """A request and those that belong to the same loop."""
    if not _is_pod_deletion(first):
        return [first]
    return [held for held in waiting if _is_pod_deletion(held)]


def _is_pod_deletion(held: Held) -> bool:
    target = held.target
    if held.sort is not Sort.OPERATION or target.kind.group_kind != PODS:
        return False
    return held.request.method == "DELETE" or target.subresource == "eviction"
