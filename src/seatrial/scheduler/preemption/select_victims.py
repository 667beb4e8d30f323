"""Selects the pods to evict so that a pod fits: the dry run of preemption over all candidate nodes.

Victims are all pods of lower priority that cannot be put back: first those whose eviction would violate a disruption
budget are tried, then the others, the most important first. Nodes that nothing but their own rows concerns are worked
on together, one reprieve at a time; the others one by one.

Upstream: pkg/scheduler/framework/preemption, plugins/defaultpreemption (SelectVictimsOnNode).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from seatrial.model.documents import Document
from seatrial.scheduler.cache.node_info import NodeInfo
from seatrial.scheduler.cache.node_table import Nodes, NodeTable, Rows
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.framework.cluster import Nominator
from seatrial.scheduler.framework.filtering import FilterResults, cycle_with, nominated_before, run_filters
from seatrial.scheduler.framework.interface import Reads
from seatrial.scheduler.framework.runtime import CycleState, Framework
from seatrial.scheduler.framework.status import Status, error, unresolvable
from seatrial.scheduler.preemption.candidates import Victims, important_first
from seatrial.scheduler.preemption.disruption_budgets import Budget, violations
from seatrial.scheduler.preemption.dry_run_cache import UNKNOWN, DryRun, DryRuns

NO_VICTIMS = "No preemption victims found for incoming pod"
WITHOUT_VICTIMS = unresolvable(NO_VICTIMS)


@dataclass(slots=True)
class _Node:
    """One node under trial."""

    row: int
    info: NodeInfo
    lower: list[PodInfo]
    nominated: list[PodInfo]
    """pods nominated to the node that must have room too"""
    turns: list[PodInfo] = field(default_factory=list)
    violating: frozenset[str] = frozenset()
    kept_out: list[PodInfo] = field(default_factory=list)


class Evaluator:
    """Tries evictions for one pod on many nodes."""

    def __init__(
        self,
        framework: Framework,
        table: NodeTable,
        nominator: Nominator,
        budgets: Sequence[Document],
        known: DryRuns | None = None,
    ) -> None:
        self.framework = framework
        self.table = table
        self.nominator = nominator
        self.budgets = [Budget(document) for document in budgets]
        self._known = known
        """Outcomes of earlier dry runs for pods of this shape."""

    def dry_run(self, pod: PodInfo, rows: Rows, cycle: CycleState, wanted: int) -> DryRun:
        """Tries nodes in order until there are enough candidates, one of them without a violation."""
        known = self._known
        if known is None or not self._reads_rows_only(pod, cycle):
            known = DryRuns(self.table, self.nominator)
        known.refresh(self.table.row_of.get(self.nominator.node_of(pod), -1))
        while True:
            tried = rows[: known.end(rows, wanted)]
            unknown = tried[known.kinds[tried] == UNKNOWN]
            if not len(unknown):
                return DryRun(self.table, tried, known)
            self._try(pod, unknown[: max(wanted, 1)].tolist(), cycle, known)

    def _try(self, pod: PodInfo, rows: Sequence[int], cycle: CycleState, known: DryRuns) -> None:
        together: list[_Node] = []
        awaiting: list[_Node] = []
        for row in rows:
            info = self.table.info(row)
            lower = [other for other in info.pods if other.priority < pod.priority]
            if not lower:
                known.keep(row, WITHOUT_VICTIMS)
                continue
            nominated = nominated_before(self.nominator, info.name, pod)
            node = _Node(row, info, lower, nominated)
            if self._is_plain(node, cycle):
                (awaiting if nominated else together).append(node)
            else:
                known.keep(row, self._one(pod, node, cycle))
        self._many(pod, together, cycle, known)
        self._many(pod, awaiting, cycle, known)

    def _reads_rows_only(self, pod: PodInfo, cycle: CycleState) -> bool:
        """Whether no filter of this cycle depends on more than the row."""
        return all(
            call.name in cycle.skipped or (call.concerns is not None and not call.concerns(pod))
            for _, call in self.framework.uncached_filters
        )

    def _is_plain(self, node: _Node, cycle: CycleState) -> bool:
        """Whether only the node's own row changes with its pods and those nominated to it."""
        if not cycle.depends_on_pods:
            return True
        if cycle_with(cycle, node.nominated, node.info) is not cycle:
            return False
        return all(cycle.without_pod(other, node.info) is cycle for other in node.lower)

    def _many(self, pod: PodInfo, nodes: list[_Node], cycle: CycleState, known: DryRuns) -> None:
        """All pods of lower priority are taken off, then put back in turn: one of each node at a time.

        In that order, as upstream does it: a host port that two pods share is free once one of them has gone.
        """
        if not nodes:
            return
        views = self._views(nodes)
        judged: list[FilterResults] = []
        for view in views:
            if not judged or not judged[-1].rejecter.all():
                judged.append(run_filters(self.framework, pod, view, cycle))
        fitting: dict[int, _Node] = {}
        for place, node in enumerate(nodes):
            failed = next((answer for answer in judged if answer.rejecter[place]), None)
            if failed is None:
                self._queue_up(node)
                fitting[place] = node
            else:
                known.keep(node.row, failed.status(place))
        for turn in range(max((len(node.turns) for node in fitting.values()), default=0)):
            trying = [place for place, node in fitting.items() if turn < len(node.turns)]
            for place, view in product(trying, views):
                view.put(place, fitting[place].turns[turn])
            passed = np.logical_and.reduce(
                [run_filters(self.framework, pod, view, cycle, Reads.ROW).passed for view in views]
            )
            for place in trying:
                if not passed[place]:
                    fitting[place].kept_out.append(fitting[place].turns[turn])
                    for view in views:
                        view.take_back(place)
        for node in fitting.values():
            known.keep(node.row, self._victims(node))

    def _views(self, nodes: Sequence[_Node]) -> list[Nodes]:
        """The nodes without their pods of lower priority: with the pods nominated to them, if any, and without."""
        rows = np.fromiter((node.row for node in nodes), np.intp, len(nodes))
        removed = {place: node.lower for place, node in enumerate(nodes)}
        nominated = {place: node.nominated for place, node in enumerate(nodes) if node.nominated}
        return [self.table.what_if(rows, removed, added) for added in ((nominated, {}) if nominated else ({},))]

    def _one(self, pod: PodInfo, node: _Node, cycle: CycleState) -> Victims | Status:
        """The same for one node whose pods also change the states of plugins, or with pods nominated to it."""
        for other in node.lower:
            cycle = cycle.without_pod(other, node.info)
        back: list[PodInfo] = []
        status = self._judge_one(pod, node, back, cycle)
        if not status.is_success:
            return status
        self._queue_up(node)
        for other in node.turns:
            back.append(other)
            changed = cycle.with_pod(other, node.info)
            if self._judge_one(pod, node, back, changed).is_success:
                cycle = changed
            else:
                node.kept_out.append(back.pop())
        return self._victims(node)

    def _judge_one(self, pod: PodInfo, node: _Node, back: list[PodInfo], cycle: CycleState) -> Status:
        """The verdict on a node with some pods put back: with the pods nominated to it, and without them."""
        rows = np.asarray([node.row], np.intp)
        if node.nominated:
            with_them = cycle_with(cycle, node.nominated, node.info)
            view = self.table.what_if(rows, {0: node.lower}, {0: [*back, *node.nominated]})
            status = run_filters(self.framework, pod, view, with_them).status(0)
            if not status.is_success:
                return status
        return run_filters(self.framework, pod, self.table.what_if(rows, {0: node.lower}, {0: back}), cycle).status(0)

    def _queue_up(self, node: _Node) -> None:
        """The order of reprieve: violating ones first, each group from the most important down."""
        ranked = important_first(node.lower)
        violating = violations(ranked, self.budgets)
        node.violating = frozenset(pod.uid for pod in violating)
        node.turns = [*violating, *(pod for pod in ranked if pod.uid not in node.violating)]

    def _victims(self, node: _Node) -> Victims | Status:
        if not node.kept_out:
            return error(f'expected at least one victim pod on node "{node.info.name}"')
        broken = sum(pod.uid in node.violating for pod in node.kept_out)
        mixed = 0 < len(node.violating) < len(node.turns)
        pods = important_first(node.kept_out) if mixed else node.kept_out
        return Victims(tuple(pods), broken)
