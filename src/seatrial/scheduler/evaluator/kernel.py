"""KernelEvaluator: answers as CachedEvaluator does, with the search and the totals in the compiled kernel.

A pod goes to the kernel if columns and checks of topology domains decide about it. Pods with nominated nodes to
consider, users' plugins without columns, failures and narrowed searches go the way of the CachedEvaluator.
"""

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from seatrial.scheduler.cache.node_table import Nodes, NodeTable, Rows
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.evaluator.cached import CachedEvaluator, CachedFound, domain_checks, uncached_calls
from seatrial.scheduler.evaluator.column_cache import ColumnCache, ShapeColumns
from seatrial.scheduler.evaluator.interface import Explained, Found
from seatrial.scheduler.evaluator.kernel_columns import KernelColumns
from seatrial.scheduler.evaluator.kernel_plan import Plan, stamp_of
from seatrial.scheduler.evaluator.shortcuts import ALL, Shortcuts
from seatrial.scheduler.framework.cluster import Nominator
from seatrial.scheduler.framework.plugin_calls import ScoreCall
from seatrial.scheduler.framework.runtime import CycleState, Framework, PreFiltered
from seatrial.scheduler.framework.scoring import (
    Scored,
    ScoreFailed,
    normalized_scores,
    raw_or_none,
    run_pre_scores,
    state_of,
)
from seatrial.scheduler.framework.status import MISSING

if TYPE_CHECKING:
    from seatrial_kernel import ByDomain, ByRow, Parallel, Totals


class _Asked(NamedTuple):
    """Scores that are not part of the local sums, as the kernel takes them."""

    by_row: "list[ByRow]"
    by_domain: "list[ByDomain]"
    parallel: "list[Parallel]"


class KernelEvaluator(CachedEvaluator):
    """Implements `Evaluator` for one table."""

    def __init__(
        self, table: NodeTable, nominator: Nominator, shortcuts: Shortcuts = ALL, *, stops_at_errors: bool = True
    ) -> None:
        super().__init__(table, nominator, shortcuts, stops_at_errors=stops_at_errors)
        self._cache = ColumnCache(table, shortcuts, KernelColumns)
        self._active: KernelColumns | None = None
        """The columns with which `planned` works; other shapes do not know yet which rows these have updated."""

    def planned(self, framework: Framework, pod: PodInfo, start: int, limit: int) -> tuple[PreFiltered, Found] | None:
        """PreFilter and `feasible` in one step, along the order of the table; None if plugins have to be asked.

        It is None, too, if no node passes.
        """
        columns, table = self._active, self._table
        plan = None if columns is None else columns.plan
        if plan is None or plan.shape is not pod.shape or plan.framework is not framework:
            columns = self._activate(framework, pod)
            plan = None if columns is None else columns.plan
        if columns is None or plan is None or plan.stamp != stamp_of(framework, table) or not plan.serves(pod):
            return None
        order = table.order
        if self._nominator.nominated_nodes() or start >= len(order) or not limit:
            return None
        answer = columns.schedule(start, limit)
        if answer is None:
            return None
        listed, visited, scores = answer
        if listed is not None and not listed:
            return None
        self._take_order(order)
        searched = self._twice[start : start + visited]
        feasible = searched if listed is None else np.frombuffer(listed, np.intp)
        cycle = plan.pre_filter.cycle
        explain = partial(self._explain_planned, plan, columns, pod, searched, feasible)
        found = CachedFound(
            framework, pod, cycle, table, searched, feasible, visited, explain,
            columns=columns, scored=_scored(plan, scores), by_columns=self._has_rejections and not plan.calls,
        )  # fmt: skip
        return plan.pre_filter, found

    def _activate(self, framework: Framework, pod: PodInfo) -> KernelColumns | None:
        """The columns of a shape if they have a plan that may be good."""
        self._rest()
        columns = cast("KernelColumns | None", self._cache.known(framework, pod.shape))
        if columns is not None and columns.plan is not None and columns.is_like_before():
            self._active = columns
        return self._active

    def _rest(self) -> None:
        """Lets other shapes know of the rows that were brought up to date."""
        if self._active is not None:
            self._active.hand_over()
            self._active = None

    def feasible(
        self, framework: Framework, pod: PodInfo, cycle: CycleState, order: Rows, start: int, limit: int
    ) -> Found:
        self._rest()
        if order is self._table.order and self._nominated.for_pod(pod) is None:
            self._take_order(order)
            first = self._first_search(framework, pod, cycle, start, limit)
            if first is not None:
                return first
            calls = uncached_calls(framework, pod, cycle)
            checks = domain_checks(pod, cycle, calls)
            columns = cast(KernelColumns, self._cache.columns(framework, pod, cycle))
            rows = None if checks is None or columns.has_errors else columns.rows(pod, order)
            if rows is not None and checks is not None:
                self._take_order(order)
                ids = [self._table.label(check.key).ids for check in checks]
                listed, visited = rows.find(
                    start, limit, [(i, *check[1:]) for i, check in zip(ids, checks, strict=True)]
                )
                feasible = np.frombuffer(listed, np.intp)
                searched = self._twice[start : start + visited]
                self._rows_asked += visited * len(calls)
                columns.keep_plan(framework, pod, cycle)
                explain = partial(self._explain_found, framework, pod, cycle, columns, calls, searched, feasible)
                return CachedFound(
                    framework, pod, cycle, self._table, searched, feasible, visited, explain,
                    columns=columns, by_columns=self._has_rejections and not calls,
                )  # fmt: skip
        return super().feasible(framework, pod, cycle, order, start, limit)

    def _explain_planned(
        self, plan: Plan, columns: KernelColumns, pod: PodInfo, visited: Rows, feasible: Rows
    ) -> Explained:
        """The verdicts; PreFilter is asked only now."""
        framework, cycle = plan.framework, plan.pre_filter.cycle
        if plan.calls:
            cycle = framework.run_pre_filter(pod, self._table.all()).cycle
        return self._explain_found(framework, pod, cycle, columns, plan.calls, visited, feasible)

    def totals(self, found: Found, rows: Rows, parts: bool) -> Scored:
        if not parts and isinstance(found, CachedFound) and rows is found.feasible and found.scored is not None:
            return found.scored
        scored = None if parts else self._kernel_totals(found, rows)
        return super().totals(found, rows, parts) if scored is None else scored

    def _kernel_totals(self, found: Found, rows: Rows) -> Scored | None:
        """The scores by the kernel; None if it cannot make them, or if a plugin fails."""
        if not isinstance(found, CachedFound):
            return None
        framework, pod, columns = found.framework, found.pod, found.columns
        kernel = columns.rows(pod, self._table.order) if isinstance(columns, KernelColumns) else None
        if kernel is None or not framework.scorers:
            return None
        nodes = self._table.take(rows)
        asked = _Asked([], [], [])
        try:
            states, skipped = run_pre_scores(columns.asks_first, pod, nodes, columns.pre_states, columns.pre_skipped)
            for call in columns.unsettled(pod):
                if call.name not in skipped:
                    self._ask(asked, call, columns, pod, nodes, state_of(call, found.cycle, states))
        except ScoreFailed:
            return None
        answer = kernel.totals(rows, columns.settled, *asked)
        if answer is None:
            return None
        total, best, root = answer
        scored = Scored(np.frombuffer(total, np.int64), skipped, framework.pre_score_names, root=root)
        scored.best = np.frombuffer(best, np.intp)
        return scored

    def _ask(
        self, asked: _Asked, call: ScoreCall, columns: ShapeColumns, pod: PodInfo, nodes: Nodes, state: Any
    ) -> None:
        """Adds the scores of a plugin, unless all are 0; ScoreFailed if the plugin fails."""
        plugin: Any = call.plugin
        kind: str | None = getattr(plugin, "normalizes", None) if call.is_in_tree else None
        column = columns.score_column(call.name)
        if column is not None and column.raw is not None:
            if kind is not None:
                asked.by_row.append((column.raw, kind, call.weight))
                return
            raw = column.raw[nodes.rows]
        elif kind is not None and state is not MISSING:
            labelled = [(self._table.label(key).ids, sums, 1) for key, sums in plugin.domain_scores(state)]
            asked.by_domain.append((labelled, kind, call.weight))
            return
        else:
            answer = raw_or_none(call, pod, nodes, state)
            if answer is None and call.is_in_tree:
                return  # in-tree plugins normalize zeros to zeros
            raw = np.zeros(len(nodes), np.int64) if answer is None else answer
        # Without normalisation the score is part of the sum already, and only its range is left to check.
        weight = call.weight if column is None or call.normalize is not None else 0
        final = normalized_scores(call, pod, nodes, raw, state)
        asked.parallel.append((np.ascontiguousarray(final), weight))


def _scored(plan: Plan, scores: "tuple[Totals, bool] | None") -> Scored | None:
    """What the kernel computed by a plan."""
    if scores is None:
        return None
    (total, best, root), is_idle = scores
    skipped = plan.skipped_if_idle if is_idle else plan.skipped
    ran, places = plan.framework.pre_score_names, np.frombuffer(best, np.intp)
    return Scored(np.frombuffer(total, np.int64), skipped, ran, [], places, root)
