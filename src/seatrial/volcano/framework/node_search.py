"""Which nodes a task fits on: a search that starts where the last one ended and stops when it has enough.

Upstream visits nodes in parallel; here they are visited one after the other. A task role that failed on a node is not
tried there again while the same helper is in use.

Upstream: pkg/scheduler/util/predicate_helper.go, pkg/scheduler/util/scheduler_helper.go.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from seatrial.volcano.cache.fit_errors import FitErrors, Judgement, Severities
from seatrial.volcano.cache.node_columns import Mask, Rows
from seatrial.volcano.cache.task_info import TaskInfo

Explain = Callable[[TaskInfo], Judgement]
"""Gives the verdicts of this moment with their words."""
BASELINE_PERCENTAGE = 50
NODES_PER_PERCENT = 125


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How many nodes a search looks for: the flags of the scheduler process."""

    minimum_feasible_nodes: int = 100
    minimum_percentage: int = 5
    percentage: int = 0

    def enough(self, nodes: int) -> int:
        """How many fitting nodes end a search among a number of nodes (CalculateNumOfFeasibleNodesToFind)."""
        if nodes <= self.minimum_feasible_nodes or self.percentage >= 100:
            return nodes
        percentage = self.percentage
        if percentage <= 0:
            percentage = max(BASELINE_PERCENTAGE - nodes // NODES_PER_PERCENT, self.minimum_percentage)
        return max(nodes * percentage // 100, self.minimum_feasible_nodes)


@dataclass(slots=True)
class RotatingStart:
    """Where the next search starts; shared by all tasks, actions and sessions."""

    place: int = 0


@dataclass(slots=True)
class _Failures:
    """Nodes on which a task role failed, and what was said about them."""

    mask: Mask
    parts: list[tuple[Rows, Judgement]] = field(default_factory=list)


class NodeSearch:
    """Finds nodes for tasks; remembers failures by role as long as it is in use. `everywhere`: all rows there are."""

    def __init__(self, everywhere: Rows, start: RotatingStart, options: SearchOptions, remembers: bool = True) -> None:
        self._everywhere = everywhere
        self._start = start
        self._options = options
        self._remembers = remembers
        self._failures: dict[tuple[str, str], _Failures] = {}
        self._kept: tuple[bytes, int, Mask, Rows] | None = None

    def find(
        self,
        task: TaskInfo,
        rows: Rows,
        severity: Severities,
        unfit_from: int,
        explain: Explain,
        is_last: bool = False,
    ) -> tuple[Rows, FitErrors]:
        """The nodes that fit, in the order they are met, and why the others that were met do not.

        `severity` covers all nodes; a node of severity `unfit_from` or more does not fit. What the last search of all
        finds out need not be remembered.
        """
        count = len(rows)
        if not count:
            return rows, FitErrors()
        known = self._failures.get((task.job, task.role)) if self._remembers and task.role else None
        is_everywhere = rows is self._everywhere
        fits, places = self._places(severity if is_everywhere else severity[rows], unfit_from)
        if known is not None:
            there = known.mask if is_everywhere else known.mask[rows]
            if (fits & there).any():
                fits = fits & ~there
                places = fits.nonzero()[0]
        start = self._start.place % count
        cut = int(places.searchsorted(start))
        enough, visited = self._options.enough(count), count
        fitting = places[cut : cut + enough + 1]
        if len(fitting) <= enough and cut:
            fitting = np.concatenate((fitting, places[: min(cut, enough + 1 - len(fitting))]))
        if len(fitting) > enough:
            visited = (int(fitting[enough]) - start) % count + 1
            fitting = fitting[:enough]
        self._start.place = (start + visited) % count
        found, errors = fitting if is_everywhere else rows[fitting], FitErrors()
        if known is None and is_last and len(fitting):
            return found, errors
        failed = rows[:0] if len(places) == count else rows[_met(np.flatnonzero(~fits), start, visited, count)]
        if known is not None or not is_last:
            known = self._remember(task, failed, known, explain)
        if not len(fitting):
            errors.parts = _remembered(known, failed) if known else [(failed, explain(task))]
        return found, errors

    def _places(self, severity: Severities, unfit_from: int) -> tuple[Mask, Rows]:
        """Which nodes fit, and where; the same arrays as before where the verdicts are, and not to be changed."""
        key = severity.tobytes()
        if self._kept is None or self._kept[0] != key or self._kept[1] != unfit_from:
            fits = severity < unfit_from
            self._kept = key, unfit_from, fits, fits.nonzero()[0]
        return self._kept[2:]

    def _remember(self, task: TaskInfo, failed: Rows, known: _Failures | None, explain: Explain) -> _Failures | None:
        """Notes the nodes on which the task's role fails for the first time."""
        if not (self._remembers and task.role and len(failed)):
            return None
        if known is None:
            known = self._failures[task.job, task.role] = _Failures(np.zeros(len(self._everywhere), np.bool_))
        fresh = failed[~known.mask[failed]]
        if len(fresh):
            known.mask[fresh] = True
            known.parts.append((fresh, explain(task)))
        return known


def _met(places: Rows, start: int, visited: int, count: int) -> Rows:
    """Which places a search that starts somewhere and visits so many nodes meets."""
    return places if visited == count else places[(places - start) % count < visited]


def _remembered(known: _Failures, failed: Rows) -> list[tuple[Rows, Judgement]]:
    """The remembered failures of the nodes met now."""
    return [(rows[np.isin(rows, failed)], judgement) for rows, judgement in known.parts]
