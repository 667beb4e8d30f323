"""Tells apart the pods that had one name one after the other.

The rows of a result name a pod, and a name may be used again once its pod is gone. An attempt belongs to exactly one
of the pods of its name: to the latest that had begun by the row of the attempt.
"""

import sys
from bisect import bisect_right
from collections.abc import Iterable

from seatrial.results.lifecycles import PodLife

Which = tuple[str, int]
"""One pod: `namespace/name`, and its number among the pods that had this name in turn, from 0."""


class Lives:
    """The rows in which the pods of each name begin."""

    def __init__(self, pods: Iterable[PodLife]) -> None:
        first: dict[str, int] = {}
        self._begun: dict[str, list[int]] = {}
        """Only of names that were used again: most are not."""
        for pod in pods:
            key = pod.key
            if first.setdefault(key, pod.from_row) != pod.from_row:
                self._begun.setdefault(key, [first[key]]).append(pod.from_row)

    def preempting(self, victim: PodLife) -> Which:
        """The pod that preempted another: of those of its name the one at the end of the victim."""
        # A victim that is not gone yet leaves for the last pod of the name.
        return self.at(victim.preempted_by, sys.maxsize if victim.to_row is None else victim.to_row)

    def at(self, key: str, row: int) -> Which:
        """The pod of a name in a row; the first one also before it begins, as a snapshot's pod has no entry then."""
        begun = self._begun.get(key)
        return (key, 0) if begun is None else (key, max(bisect_right(begun, row) - 1, 0))
