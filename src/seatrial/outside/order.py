"""Which of the requests at the gate is carried out next.

Operations of a simulated controller pass one by one, each a loop of its own (KEP-140: a minor step); deletions of pods
that wait at the same moment, the victims of one preemption, pass together. Verdicts on pods pass in the order in which
a scheduler with PrioritySort makes them: a bind runs in a goroutine of its own, so requests may overtake each other.
"""

import time
from heapq import heappop, heappush
from itertools import count

from seatrial.outside.pods import PendingPods, Rank
from seatrial.outside.requests import PODS, Held, Sort

PATIENCE = 1.0
"""Seconds for which a verdict waits for one that is expected before it."""
SURPRISES = 5
"""After this number of verdicts out of the expected order the gate no longer waits: the scheduler has its own order."""
UNRANKED: Rank = (1 << 62, 0)


class Order:
    """The requests that wait for their turn, and the choice of the next."""

    def __init__(self, pods: PendingPods | None) -> None:
        self._pods = pods
        self._surprises = 0
        self._numbers = count()
        self._verdicts: list[tuple[Rank, int, Held]] = []
        self._others: dict[int, Held] = {}

    def add(self, held: Held) -> None:
        """A request arrives."""
        pod = held.pod
        if pod is None or self._pods is None:
            self._others[next(self._numbers)] = held
        else:
            heappush(self._verdicts, (self._pods.rank(pod) or UNRANKED, next(self._numbers), held))

    def next(self) -> tuple[list[Held], float | None]:
        """The requests to let through now, or none and the seconds after which to ask again."""
        self._forget_gone()
        other = next(iter(self._others.values()), None)
        rank, _, verdict = self._verdicts[0] if self._verdicts else (UNRANKED, 0, None)
        if other is not None and (verdict is None or other.arrived <= verdict.arrived):
            return self._together(other), None
        if verdict is None:
            return [], None
        patience = self._patience(verdict, rank)
        if patience is None:
            heappop(self._verdicts)
            return [verdict], None
        return (self._together(other), None) if other is not None else ([], patience)

    def _patience(self, held: Held, rank: Rank) -> float | None:
        """How long to wait for an earlier verdict; None: no longer."""
        if self._pods is None or self._surprises >= SURPRISES:
            return None
        first = self._pods.first_untried()
        if first is None or first >= rank:
            return None
        left = held.arrived + PATIENCE - time.monotonic()
        if left > 0:
            return left
        self._surprises += 1
        return None

    def _together(self, first: Held) -> list[Held]:
        """A request and those that belong to the same loop."""
        chosen = {number: held for number, held in self._others.items() if held is first or _are_deletions(first, held)}
        for number in chosen:
            del self._others[number]
        return list(chosen.values())

    def _forget_gone(self) -> None:
        """Drop requests that wait no longer: their clients have gone away."""
        while self._verdicts and not self._verdicts[0][2].is_waiting:
            heappop(self._verdicts)
        for number in [number for number, held in self._others.items() if not held.is_waiting]:
            del self._others[number]


def _are_deletions(first: Held, second: Held) -> bool:
    return _is_pod_deletion(first) and _is_pod_deletion(second)


def _is_pod_deletion(held: Held) -> bool:
    target = held.target
    if held.sort is not Sort.OPERATION or target.kind.group_kind != PODS:
        return False
    return held.request.method == "DELETE" or target.subresource == "eviction"
