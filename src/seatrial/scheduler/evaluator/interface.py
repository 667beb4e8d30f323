"""The Evaluator protocol: which nodes pass the filters, in search order, and what they score.

`PlainEvaluator` defines the answers. `CachedEvaluator` gives equal answers and recomputes only what has changed.
`KernelEvaluator` does the same with compiled code where that is installed.
"""

from collections.abc import Callable
from typing import Protocol

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from seatrial.scheduler.cache.node_table import NodeTable, Rows
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.framework.runtime import CycleState, Framework
from seatrial.scheduler.framework.scoring import Scored
from seatrial.scheduler.framework.status import Status

__all__ = ["Counted", "Evaluator", "Explained", "Found", "Scored", "count_codes"]

Explained = tuple[NDArray[np.int32], tuple[Status, ...]]
"""For each visited node 0 or 1 + the index of its status, and the statuses in the order in which they first occur."""
Counted = tuple[tuple[Status, ...], tuple[int, ...]]
"""The statuses in the order in which they first occur, and the number of visited nodes with each."""


def count_codes(codes: NDArray[np.int32], statuses: int) -> tuple[int, ...]:
    """The number of nodes with each status; a code of 0 has none."""
    return tuple(np.bincount(codes, minlength=statuses + 1)[1:].tolist())


class Found(Struct, eq=False):
    """The outcome of a search."""

    framework: Framework
    pod: PodInfo
    cycle: CycleState
    table: NodeTable
    visited: Rows
    """the rows searched, in order"""
    feasible: Rows
    """the rows that passed all filters, in the order found"""
    processed: int
    """the number of nodes by which the start of the next search moves: a node whose filter failed is not counted"""
    explain: Callable[[], Explained]
    """The verdicts; valid until the next call of the evaluator."""
    error: Status | None = None
    """the failure of a filter, of the first node in the order that has one"""

    def counted(self) -> Counted:
        """How many visited nodes have which status; valid as long as `explain` is."""
        codes, statuses = self.explain()
        return statuses, count_codes(codes, len(statuses))


class Evaluator(Protocol):
    """Filters and scores nodes for one pod after the other."""

    @property
    def rows_evaluated(self) -> int:
        """The number of rows passed to plugins so far: the cost of the cycles, counted without a clock."""
        ...

    def feasible(
        self, framework: Framework, pod: PodInfo, cycle: CycleState, order: Rows, start: int, limit: int
    ) -> Found:
        """Searches the rows of `order` circularly from a position until it meets one more than `limit` feasible nodes.

        A node to which pods of equal or higher priority are nominated must pass with those pods and without them.
        """
        ...

    def totals(self, found: Found, rows: Rows, parts: bool) -> Scored:
        """The scores of some feasible rows; `parts` asks for the scores of each plugin, too."""
        ...
