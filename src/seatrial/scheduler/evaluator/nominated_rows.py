"""The rows of the nodes that have nominated pods, kept up to date by the log of nominations.

After many preemptions most nodes have nominated pods: what a search needs of them is read from arrays.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.scheduler.cache.node_table import NO_ROWS, Mask, NodeTable, Rows
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.framework.cluster import Nominator
from seatrial.scheduler.framework.filtering import cycle_with, nominated_before, run_filters
from seatrial.scheduler.framework.runtime import CycleState, Framework
from seatrial.scheduler.framework.status import SUCCESS, Code, Status


@dataclass(frozen=True, slots=True)
class Failing:
    """Which of some nodes fail with the pods nominated to them: 0, or the place of the status in `statuses`."""

    codes: NDArray[np.int32]
    statuses: list[Status]

    @property
    def may_have_errors(self) -> bool:
        return any(status.code == Code.ERROR for status in self.statuses)

    def cut(self, end: int) -> "Failing":
        """The first nodes."""
        return Failing(self.codes[:end], self.statuses)

    def number(self, codes: NDArray[Any], numbers: dict[Status, int]) -> None:
        """Writes the numbers of the statuses, counted from 1, to the places of the nodes that fail."""
        for code in np.flatnonzero(np.bincount(self.codes)).tolist():
            if code:
                codes[self.codes == code] = numbers.setdefault(self.statuses[code], len(numbers) + 1)


class NominatedRows:
    """The rows of one table."""

    def __init__(self, table: NodeTable, nominator: Nominator) -> None:
        self._table, self._nominator = table, nominator
        self._mask: Mask = np.zeros(0, np.bool_)
        self.rows: Rows = NO_ROWS
        """The rows of the last mask, but for a pod that is itself nominated."""
        self._version, self._nominations = -1, 0

    def for_pod(self, pod: PodInfo) -> Mask | None:
        """The rows of nodes with nominated pods other than this one; None without such nodes."""
        nominator, row_of = self._nominator, self._table.row_of
        if not nominator.nominated_nodes():
            return None
        mask, own = self._present(), nominator.node_of(pod)
        if own in row_of and mask[row_of[own]] and not nominated_before(nominator, own, pod):
            mask = mask.copy()
            mask[row_of[own]] = False
        return mask if mask.any() else None

    def _present(self) -> Mask:
        table, nominator = self._table, self._nominator
        names = nominator.changed_since(self._nominations)
        if self._version != table.version or names is None or len(self._mask) != table.size:
            self._mask = np.zeros(table.size, np.bool_)
            self.rows, names = NO_ROWS, list(nominator.nominated_nodes())
        for name in names:
            if name in table.row_of:
                self._mask[table.row_of[name]] = bool(nominator.nominated_to(name))
        if names:
            self.rows = np.flatnonzero(self._mask)
        self._version, self._nominations = table.version, nominator.changes
        return self._mask

    def judge(self, framework: Framework, pod: PodInfo, cycle: CycleState, rows: Rows) -> list[tuple[Status, bool]]:
        """The verdicts on nodes with their nominated pods, and whether each depends on its row alone.

        All such nodes are asked about at once.
        """
        table = self._table
        answers = [(SUCCESS, True)] * len(rows)
        together: dict[int, list[PodInfo]] = {}
        for place, row in enumerate(rows.tolist()):
            nominated = nominated_before(self._nominator, table.info(row).name, pod)
            changed = cycle_with(cycle, nominated, table.info(row)) if nominated else cycle
            if changed is cycle and nominated:
                together[place] = nominated
            elif nominated:
                view = table.what_if(rows[place : place + 1], {}, {0: nominated})
                answers[place] = run_filters(framework, pod, view, changed).status(0), False
        if together:
            view = table.what_if(rows[list(together)], {}, dict(enumerate(together.values())))
            results = run_filters(framework, pod, view, cycle)
            for index, place in enumerate(together):
                answers[place] = results.status(index), True
        return answers
