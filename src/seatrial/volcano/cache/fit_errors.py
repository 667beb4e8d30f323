"""Why tasks do not fit on nodes: statuses per node, kept as columns; messages are made when read.

Upstream: pkg/scheduler/api/unschedule_info.go, types.go (Status, StatusSets).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from seatrial.scheduler.framework import Code

UNAVAILABLE = "all nodes are unavailable"
UNSCHEDULABLE_REASON, SCHEDULABLE_REASON = "Unschedulable", "Schedulable"
FITS, REJECTED, UNRESOLVABLE = 0, 1, 2
"""How badly a node is unfit: not at all, in a way that evictions may change, or in one they may not."""


@dataclass(frozen=True, slots=True)
class FitStatus:
    """One plugin's answer about a node."""

    code: Code
    reason: str
    plugin: str = ""

    @property
    def severity(self) -> int:
        if self.code == Code.SUCCESS:
            return FITS
        return REJECTED if self.code == Code.UNSCHEDULABLE else UNRESOLVABLE

    @property
    def aborts(self) -> bool:
        """Whether no further plugin is called for the node."""
        return self.severity == UNRESOLVABLE


Statuses = Sequence[FitStatus]
Severities = NDArray[np.int8]


def histogram(reasons: Counter[str]) -> str:
    """Reasons with their numbers, as messages list them."""
    return ", ".join(sorted(f"{count} {reason}" for reason, count in reasons.items()))


class Judgement:
    """What all predicates say about all nodes: a severity for each row, and the messages on demand."""

    __slots__ = ("_explain", "severity")

    def __init__(self, severity: Severities, explain: Callable[[int], Statuses]) -> None:
        self.severity = severity
        self._explain = explain

    def statuses(self, row: int) -> Statuses:
        """The answers about one node that were not success."""
        return self._explain(row)


@dataclass(slots=True)
class FitErrors:
    """Why a task fits on none of the nodes that were looked at."""

    error: str = ""
    hyper_node: str = ""
    parts: list[tuple[NDArray[np.intp], Judgement]] = field(default_factory=list)
    """Rows and what was said about them; a later part never has rows of an earlier one."""
    everywhere: tuple[int, FitStatus] | None = None
    """One error for a number of nodes, if it does not depend on the node."""
    _counted: Counter[str] | None = field(default=None, repr=False)
    """The reasons, once they are read: then no part is added."""

    def unresolvable_rows(self) -> set[int]:
        """Rows of nodes that evictions would not make fit; plain errors do not count."""
        found: set[int] = set()
        for rows, judgement in self.parts:
            for row in rows[judgement.severity[rows] == UNRESOLVABLE].tolist():
                if any(status.code == Code.UNRESOLVABLE for status in judgement.statuses(row)):
                    found.add(row)
        return found

    def reasons(self) -> Counter[str]:
        """How many nodes each reason holds for."""
        if self._counted is not None:
            return self._counted
        counted = self._counted = Counter()
        if self.everywhere is not None:
            counted[self.everywhere[1].reason] += self.everywhere[0]
        for rows, judgement in self.parts:
            for row in rows.tolist():
                counted.update(status.reason for status in judgement.statuses(row) if status.reason)
        return counted

    def plugins(self) -> list[str]:
        """The plugins that rejected nodes, in the order of their answers."""
        found: dict[str, None] = {}
        for rows, judgement in self.parts:
            for row in rows.tolist():
                found.update(dict.fromkeys(s.plugin for s in judgement.statuses(row) if s.plugin))
        return list(found)

    @property
    def nodes(self) -> int:
        return (self.everywhere[0] if self.everywhere else 0) + sum(len(rows) for rows, _ in self.parts)

    def message(self) -> str:
        """The error as upstream words it."""
        count = self.nodes
        error = self.error or f"0/{count} nodes are unavailable"
        if not count:
            return error
        text = f"{error}: {histogram(self.reasons())}."
        return f"In hyperNode {self.hyper_node}: {text}" if self.hyper_node else text


def insufficient(resources: Iterable[str]) -> str:
    """The reason for a node without enough of some resources: the first is named."""
    first = next(iter(resources), "")
    return f"Insufficient {first}" if first else ""
