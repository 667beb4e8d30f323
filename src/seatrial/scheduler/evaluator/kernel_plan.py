"""What a scheduling cycle asks for pods of a shape, known beforehand: then one call of the kernel is the whole cycle.

A plan is good until a node or another object that is no pod changes, or a pod comes whose affinity terms no other pod
carries. Until then PreFilter and PreScore would answer the same, or answer from sums that are kept pod by pod: in-tree
plugins describe those as rules and terms (`framework.row_rules`).
"""

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from seatrial.scheduler.cache.node_table import NodeTable
from seatrial.scheduler.cache.pod_info import PodInfo, PodShape
from seatrial.scheduler.evaluator.cached import Calls, uncached_calls
from seatrial.scheduler.evaluator.column_cache import ShapeColumns
from seatrial.scheduler.framework.plugin_calls import ScoreCall
from seatrial.scheduler.framework.row_rules import DomainRule, DomainTerm
from seatrial.scheduler.framework.runtime import CycleState, Framework, PreFiltered
from seatrial.scheduler.framework.scoring import ScoreFailed, raw_or_none
from seatrial.scheduler.framework.status import MISSING
from seatrial.scheduler.plugins.registry import is_in_tree

if TYPE_CHECKING:
    from seatrial_kernel import ByDomain, ByRow, Rule, ShapeRows

Stamp = tuple[int, int, int, int]


def stamp_of(framework: Framework, table: NodeTable) -> Stamp | None:
    """What plans depend on besides the shape; None if that cannot be known."""
    cluster = framework.cluster
    if cluster is None:
        return None
    return table.version, table.resources_asked, table.counts.terms_version, cluster.changes


class Plan(Struct, eq=False, frozen=True):
    """The cycle of a shape."""

    framework: Framework
    shape: PodShape
    stamp: Stamp
    pre_filter: PreFiltered
    """the outcome of PreFilter without the states of filters that the kernel does"""
    calls: Calls
    """the filters without columns; the kernel does them all"""
    skipped: tuple[str, ...]
    """plugins that PreScore skips"""
    skipped_if_idle: tuple[str, ...]
    """the same if all sums of domains that score are 0"""

    def serves(self, pod: PodInfo) -> bool:
        """Whether plugins see nothing in a pod but its shape."""
        return not (pod.node or pod.nominated_node or pod.status) and pod.requests is self.shape.requests


class NotPlannable(Exception):
    """A plugin must be asked in each cycle."""


def make_plan(
    framework: Framework, pod: PodInfo, cycle: CycleState, columns: ShapeColumns, rows: "ShapeRows", stamp: Stamp
) -> Plan | None:
    """The plan for pods of a shape, from a cycle of one of them; the kernel is told what to ask."""
    try:
        made = _Maker(framework, pod, cycle, columns)
        rules, calls = made.rules()
        skipped, skipped_if_idle = made.pre_scores()
        by_row, by_domain = made.scores(skipped)
    except (NotPlannable, ScoreFailed):
        return None
    rows.plan(rules, columns.settled, by_row, by_domain)
    states = {name: state for name, state in cycle.states.items() if name not in made.live}
    pre_filter = PreFiltered(CycleState(states, cycle.skipped), ran=framework.pre_filter_names)
    return Plan(framework, pod.shape, stamp, pre_filter, calls, skipped, skipped_if_idle)


class _Maker:
    def __init__(self, framework: Framework, pod: PodInfo, cycle: CycleState, columns: ShapeColumns) -> None:
        self._framework, self._pod, self._cycle, self._columns = framework, pod, cycle, columns
        self._table = columns.table
        self._terms: dict[str, list[DomainTerm]] = {}
        self.live: dict[str, list[DomainRule]] = {}
        """The rules of the PreFilter plugins whose state changes with pods."""
        for name, _ in framework.pre_filters_for(pod)[0]:
            plugin: Any = framework.plugin(name)
            if not (plugin.pre_filters_by_shape and is_in_tree(type(plugin))):
                self.live[name] = _described(plugin, "domain_rules", pod, self._table)

    def rules(self) -> "tuple[list[Rule], Calls]":
        """The filters without columns, for the kernel."""
        calls = uncached_calls(self._framework, self._pod, self._cycle)
        if any(call.name not in self.live for _, call in calls):
            raise NotPlannable
        label = self._table.label
        return [(label(rule.key).ids, *rule[1:]) for _, call in calls for rule in self.live[call.name]], calls

    def pre_scores(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The plugins that PreScore skips: always, and if there are no pods to score by."""
        skipped, if_idle = self._columns.pre_skipped, self._columns.pre_skipped
        for name, _ in self._columns.asks_first:
            if self._columns.score_column(name) is not None:
                raise NotPlannable  # its PreScore has failed
            plugin = self._framework.plugin(name)
            if _scores_nothing(plugin, self._pod):
                continue
            terms = self._terms[name] = _described(plugin, "domain_terms", self._pod, self._table)
            if not terms:
                skipped += (name,)
            if_idle += (name,)
        return skipped, if_idle

    def scores(self, skipped: tuple[str, ...]) -> "tuple[list[ByRow], list[ByDomain]]":
        """The scores that are not part of the local sums, for the kernel."""
        by_row: list[ByRow] = []
        by_domain: list[ByDomain] = []
        for call in self._columns.unsettled(self._pod):
            column = self._columns.score_column(call.name)
            if call.name in skipped:
                continue
            if column is not None and column.raw is not None:
                by_row.append((column.raw, _normalisation(call), call.weight))
            elif call.name in self._terms:
                terms = [(self._table.label(key).ids, sums, factor) for key, sums, factor in self._terms[call.name]]
                by_domain.append((terms, _normalisation(call), call.weight))
            elif not self._is_none(call):
                raise NotPlannable
        if len(by_domain) > 1:
            raise NotPlannable
        return by_row, by_domain

    def _is_none(self, call: ScoreCall) -> bool:
        """Whether a plugin that PreFilter skipped scores no node."""
        if not call.is_in_tree or call.has_pre_score or call.name not in self._cycle.skipped:
            return False
        return raw_or_none(call, self._pod, self._table.all(), MISSING) is None


def _described(plugin: Any, by: str, pod: PodInfo, table: NodeTable) -> Any:
    """What a plugin says in a method that not all have, or that may answer None."""
    describe = getattr(plugin, by, None) if is_in_tree(type(plugin)) else None
    found = None if describe is None else describe(pod, table)
    if found is None:
        raise NotPlannable
    return found


def _scores_nothing(plugin: Any, pod: PodInfo) -> bool:
    """Whether a plugin says that no node gets a score of it though its PreScore passes."""
    ask = getattr(plugin, "scores_nothing", None) if is_in_tree(type(plugin)) else None
    return ask is not None and bool(ask(pod))


def _normalisation(call: ScoreCall) -> str:
    kind: str | None = getattr(call.plugin, "normalizes", None) if call.is_in_tree else None
    if kind is None:
        raise NotPlannable
    return kind
