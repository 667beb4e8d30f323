"""How many nodes are searched, and which of the best is taken.

kube-scheduler v1.36.3 puts scored nodes into a binary heap in the order the search found them and takes the root. The
root after Go's heap.Init is, among the nodes with the highest score, the one that comes first when the heap's tree is
walked parent, left, right: a parent keeps its place against an equal child, a left child against a right one.

Upstream: pkg/scheduler/schedule_one.go (numFeasibleNodesToFind, nodeScoreHeap).
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

FEWEST_NODES = 100
FEWEST_PERCENT = 5
LOWEST = np.iinfo(np.int64).min
UPSTREAM = "upstream"
Places = NDArray[np.intp]


def nodes_to_find(nodes: int, percentage: int) -> int:
    """How many feasible nodes end the search; 0 percent adapts to the size of the cluster."""
    if nodes < FEWEST_NODES:
        return nodes
    if percentage == 0:
        percentage = max(50 - nodes // 125, FEWEST_PERCENT)
    return max(nodes * percentage // 100, FEWEST_NODES)


def best_places(totals: NDArray[np.int64]) -> Places:
    """The positions with the highest total, ascending."""
    places: Places = (totals == totals[totals.argmax()]).nonzero()[0]
    return places


def highest(totals: NDArray[np.int64], number: int) -> Places:
    """The positions of the `number` highest totals, best first; of equal ones the first."""
    left, places = totals.copy(), []
    for _ in range(min(number, len(totals))):
        places.append(int(left.argmax()))
        left[places[-1]] = LOWEST
    return np.asarray(places, np.intp)


class SeededRandom(Protocol):
    """A seeded source of choices."""

    def randrange(self, stop: int) -> int: ...


class TieBreak:
    """Settles which of several equally good nodes is taken: upstream, name or random."""

    def __init__(self, rule: str = UPSTREAM, dice: SeededRandom | None = None) -> None:
        if rule not in (UPSTREAM, "name", "random"):
            raise ValueError(f"tie-break must be upstream, name or random, not {rule!r}")
        self.rule = rule
        self._dice = dice
        self._ranks = preorder(1024)

    def pick(self, totals: NDArray[np.int64], names: "Names") -> int:
        """The position of the node to take."""
        return self.among(best_places(totals), names)

    def among(self, tied: Places, names: "Names") -> int:
        """Which of equally good positions to take."""
        if len(tied) == 1:
            return int(tied[0])
        if self.rule == "name":
            return int(min(tied, key=lambda place: names(int(place))))
        if self.rule == "random" and self._dice is not None:
            return int(tied[self._dice.randrange(len(tied))])
        while tied[-1] >= len(self._ranks):
            self._ranks = preorder(2 * len(self._ranks))
        return int(tied[self._ranks[tied].argmin()])

    def ranked(self, totals: NDArray[np.int64], names: "Names") -> list[int]:
        """All positions, best first, in the order in which they would be taken one after the other."""
        values = totals.tolist()
        if self.rule == "upstream":
            return heap_order(values)
        return sorted(range(len(values)), key=lambda place: (-values[place], names(place)))


class Names(Protocol):
    """The name of the node at a position."""

    def __call__(self, place: int) -> str: ...


def preorder(size: int) -> NDArray[np.int64]:
    """For each place of a binary heap its rank in the walk parent, left, right: the path from the root, padded."""
    places = np.arange(1, size + 1, dtype=np.int64)
    depth = np.frexp(places.astype(np.float64))[1].astype(np.int64)
    return ((places << (40 - depth)) << 6) | depth


def heap_order(totals: list[int]) -> list[int]:
    """The positions as Go's container/heap gives them up, the highest total first."""
    heap = list(range(len(totals)))
    for place in reversed(range(len(heap) // 2)):
        _sift_down(heap, totals, place, len(heap))
    for last in reversed(range(len(heap))):
        heap[0], heap[last] = heap[last], heap[0]
        _sift_down(heap, totals, 0, last)
    return heap[::-1]


def _sift_down(heap: list[int], totals: list[int], place: int, size: int) -> None:
    while (child := 2 * place + 1) < size:
        if child + 1 < size and totals[heap[child + 1]] > totals[heap[child]]:
            child += 1
        if totals[heap[child]] <= totals[heap[place]]:
            return
        heap[place], heap[child] = heap[child], heap[place]
        place = child
