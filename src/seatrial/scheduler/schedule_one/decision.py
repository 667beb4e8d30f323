"""One scheduling attempt as compact columns: enough to explain it in full, cheap enough to keep.

Per visited node there is one small number for its verdict and, if it passed, one score per plugin: its cells. Names of
nodes and statuses are shared. Texts are made when they are read. Cells that the recorder will not keep are not made.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from seatrial.scheduler.cache.row_names import NodeNames
from seatrial.scheduler.evaluator.interface import count_codes
from seatrial.scheduler.framework.scoring import NO_TOTALS, PluginScores
from seatrial.scheduler.framework.status import SUCCESS, Status
from seatrial.scheduler.schedule_one.outcomes import ERROR, GATED, SCHEDULED, UNSCHEDULABLE, WAITING

__all__ = ["ERROR", "GATED", "SCHEDULED", "UNSCHEDULABLE", "WAITING", "Decision", "PreFilterRecord", "Preemption"]


@dataclass(frozen=True, slots=True)
class PreFilterRecord:
    """What PreFilter said: by plugin, and which nodes it left (None: all)."""

    status: Status = SUCCESS
    plugins: tuple[str, ...] = ()
    """Plugins that ran, in order."""
    skipped: tuple[str, ...] = ()
    nodes: tuple[str, ...] | None = None
    narrowed_by: tuple[str, ...] = ()
    node_sets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Nodes left by each plugin that narrows, for the annotations."""


@dataclass(frozen=True, slots=True)
class Preemption:
    """A PostFilter that made room: victims are `namespace/name`, most important first."""

    node: str
    victims: tuple[str, ...]


NOTHING_SAID: Mapping[str, Any] = MappingProxyType({})
NO_VERDICTS: NDArray[np.int32] = np.zeros(0, np.int32)


class Decision(msgspec.Struct, frozen=True, eq=False, gc=False):
    """One attempt. Columns are there only where the recorder keeps cells."""

    pod: str
    """namespace/name"""
    uid: str
    profile: str
    outcome: str
    """scheduled, unschedulable, error, waiting (held by Permit) or gated"""
    at: int = 0
    attempt: int = 1
    node: str = ""
    """where the pod goes; empty if nowhere"""
    nominated_node: str = ""
    """after the attempt"""
    message: str = ""
    """text of the FailedScheduling event, or of the error"""
    nodes_total: int = 0
    pre_filter: PreFilterRecord = PreFilterRecord()
    filter_plugins: tuple[str, ...] = ()
    """Filter plugins that ran, in order."""
    visited: Sequence[str] = ()
    """nodes searched, in order"""
    verdicts: NDArray[np.int32] = NO_VERDICTS
    """parallel to `visited`: 0 passed, else 1 + index into `statuses`"""
    statuses: tuple[Status, ...] = ()
    status_counts: tuple[int, ...] = ()
    """parallel to `statuses`: the number of visited nodes with each; instead of `verdicts` where cells are not kept"""
    feasible: Sequence[str] = ()
    """nodes that passed filters and extenders, in the order found"""
    feasible_count: int = 0
    rejected_count: int = 0
    pre_score_skipped: tuple[str, ...] = ()
    pre_score_plugins: tuple[str, ...] = ()
    scores: tuple[PluginScores, ...] = ()
    total: NDArray[np.int64] = NO_TOTALS
    """parallel to `feasible`; extenders included"""
    post_filter: tuple[tuple[str, Status], ...] = ()
    """PostFilter plugins that ran, with their answers"""
    preemption: Preemption | None = None
    points: Mapping[str, tuple[tuple[str, str], ...]] = NOTHING_SAID
    """reserve, permit, preBind, bind: (plugin, "success" or message) in order; permit also (plugin, "wait")"""
    permit_timeouts: tuple[tuple[str, int], ...] = ()
    extenders: Mapping[str, Sequence[Any]] = NOTHING_SAID
    """filter, prioritize, preempt, bind: (url prefix, answer) as received"""
    rejected_by: tuple[str, ...] = ()
    """plugins to blame, by name: what requeueing looks at"""
    pending_by: tuple[str, ...] = ()
    like: "Decision | None" = None
    """the decision on another pod that this one repeats: they differ in pod, time and number of the attempt alone"""

    def rejected(self) -> Iterator[tuple[str, Status]]:
        """Visited nodes that did not pass, with the verdict of the first plugin that said no."""
        for name, code in zip(self.visited, self.verdicts.tolist(), strict=True):
            if code:
                yield name, self.statuses[code - 1]

    def reasons(self) -> dict[str, int]:
        """How many visited nodes were rejected for which reason."""
        counts: dict[str, int] = {}
        numbers = self.status_counts or count_codes(self.verdicts, len(self.statuses))
        for status, number in zip(self.statuses, numbers, strict=True):
            for reason in status.reasons:
                counts[reason] = counts.get(reason, 0) + number
        return counts

    def best(self, number: int = 3) -> list[tuple[str, int]]:
        """The feasible nodes with the highest totals."""
        total, names = self.total, self.feasible
        if not len(total):
            return []
        if len(total) > number and isinstance(names, NodeNames):
            places = names.highest(total, number)
            total, names = total[places], NodeNames(names.of, names.rows[places])
        ranked = sorted(zip((-total).tolist(), names, strict=True))
        return [(name, -value) for value, name in ranked[:number]]
