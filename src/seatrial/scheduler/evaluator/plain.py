"""PlainEvaluator: the specification of filtering and scoring. It calls the plugins and keeps nothing.

Upstream: pkg/scheduler/schedule_one.go (findNodesThatPassFilters, prioritizeNodes) with parallelism 1.
"""

from collections.abc import Sequence

import numpy as np

from seatrial.scheduler.cache.node_table import NodeTable, Rows
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.evaluator.interface import Explained, Found
from seatrial.scheduler.framework.cluster import Nominator
from seatrial.scheduler.framework.filtering import cycle_with, nominated_before, run_filters
from seatrial.scheduler.framework.runtime import CycleState, Framework
from seatrial.scheduler.framework.scoring import Scored, run_scores
from seatrial.scheduler.framework.status import Code, Status


class PlainEvaluator:
    """Implements `Evaluator` by asking every filter about every node, and every scorer about every feasible node."""

    def __init__(self, table: NodeTable, nominator: Nominator, *, stops_at_errors: bool = True) -> None:
        self._table, self._nominator = table, nominator
        self._stops_at_errors = stops_at_errors
        self.rows_evaluated = 0

    def feasible(
        self, framework: Framework, pod: PodInfo, cycle: CycleState, order: Rows, start: int, limit: int
    ) -> Found:
        rows = np.roll(order, -start)
        self.rows_evaluated += len(rows)
        results = run_filters(framework, pod, self._table.take(rows), cycle)
        statuses: list[Status] = []
        feasible: list[int] = []
        failure = None
        for place, row in enumerate(rows.tolist()):
            status = self._with_nominated_pods(framework, pod, cycle, row) or results.status(place)
            if status.is_success and len(feasible) == limit:
                break
            statuses.append(status)
            if status.is_success:
                feasible.append(row)
            elif status.code == Code.ERROR:
                failure = failure or status
                if self._stops_at_errors:
                    break
        visited = rows[: len(statuses)]
        processed = len(visited) - (failure is not None and self._stops_at_errors)
        explain = lambda: explained(statuses)  # noqa: E731
        passed = np.asarray(feasible, np.intp)
        return Found(framework, pod, cycle, self._table, visited, passed, processed, explain, failure)

    def _with_nominated_pods(self, framework: Framework, pod: PodInfo, cycle: CycleState, row: int) -> Status | None:
        """Why a node fails with the pods nominated to it; None if it passes or there are none."""
        node = self._table.info(row)
        nominated = nominated_before(self._nominator, node.name, pod)
        if not nominated:
            return None
        view = self._table.what_if(np.asarray([row], np.intp), {}, {0: nominated})
        status = run_filters(framework, pod, view, cycle_with(cycle, nominated, node)).status(0)
        return None if status.is_success else status

    def totals(self, found: Found, rows: Rows, parts: bool) -> Scored:
        self.rows_evaluated += len(rows)
        return run_scores(found.framework, found.pod, self._table.take(rows), found.cycle)


def explained(statuses: Sequence[Status]) -> Explained:
    """One status per node as codes and distinct statuses."""
    numbers: dict[Status, int] = {}
    codes = [0 if status.is_success else numbers.setdefault(status, len(numbers) + 1) for status in statuses]
    return np.asarray(codes, np.int32), tuple(numbers)
