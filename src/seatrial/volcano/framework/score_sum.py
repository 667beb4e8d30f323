"""The sum of kube-scheduler's scores, of which one column is kept for all pods of equal spec.

A score without normalisation says the same about a node whichever the other candidates are, and so does a score by
node that says the same about all nodes. These are summed once for each spec, and again for rows that change; the
others are asked for each pod.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from seatrial.scheduler.cache import PodInfo
from seatrial.volcano.cache.node_columns import Floats, Rows
from seatrial.volcano.cache.task_info import TaskInfo
from seatrial.volcano.framework.kept_columns import Columns
from seatrial.volcano.framework.kube import SKIPPED, KubeSnapshot, Score, spec_key


@dataclass(frozen=True, slots=True)
class _Plan:
    """How pods of one spec are scored."""

    compute: Callable[[Rows | None], Floats]
    """What is summed, of all rows or of some."""
    one: Callable[[int], float] | None
    """The same of one row."""
    others: tuple[Score, ...]


class ScoreSum:
    """Sums scores with their weights. `keeps`: False asks every score for every pod."""

    def __init__(self, scores: Sequence[Score], snapshot: KubeSnapshot, columns: Columns, *, keeps: bool) -> None:
        self._scores = tuple(scores)
        self._table, self._cluster = snapshot.table, snapshot.handle.cluster
        self._columns = columns
        self._keeps = keeps
        self._plans: dict[Hashable, _Plan] = {}
        self._mark = object()
        """Names the columns; they do not refer back to this object, so that it is freed with its session."""

    def __call__(self, task: TaskInfo, rows: Rows) -> Floats:
        """The sums of some rows."""
        if not self._keeps:
            return self._with(np.zeros(len(rows)), self._scores, task, rows)
        # Scores depend on objects besides nodes, which may change while an extender answers.
        key = self._mark, spec_key(task.pod.shape), self._cluster.changes
        plan = self._plans.get(key)
        if plan is None:
            plan = self._plans[key] = self._plan(task.pod)
        return self._with(self._columns.get(key, plan.compute, plan.one)[rows], plan.others, task, rows)

    def _with(self, total: Floats, scores: Sequence[Score], task: TaskInfo, rows: Rows) -> Floats:
        if not scores:
            return total
        nodes = self._table.take(rows)
        for score in scores:
            found = score(task, rows, nodes)
            if found is not None:
                total = total + found
        return total

    def _plan(self, pod: PodInfo) -> _Plan:
        table = self._table
        summed: list[tuple[Score, Any]] = []
        level, others = 0.0, []
        for score in self._scores:
            state = score.state(pod, table.all()) if score.is_kept else None
            if state is SKIPPED:
                continue
            if score.is_kept and not score.is_normalized:
                summed.append((score, state))
            elif score.is_kept and (same := score.level(pod, state)) is not None:
                level += same
            else:
                others.append(score)
        ones = [score.of_row(state) for score, state in summed]
        of_rows = [each for each in ones if each is not None]

        def compute(rows: Rows | None) -> Floats:
            nodes = table.all() if rows is None else table.take(rows)
            total = np.full(len(nodes), level)
            for score, state in summed:
                total += score.weighted(pod, nodes, state)
            return total

        def one(row: int) -> float:
            return level + sum([of_row(pod, row) for of_row in of_rows])

        return _Plan(compute, one if all(ones) else None, tuple(others))
