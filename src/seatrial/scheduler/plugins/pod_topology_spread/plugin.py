"""PodTopologySpread: keeps the numbers of matching pods per topology domain close to each other.

DoNotSchedule constraints filter by skew, ScheduleAnyway ones score by the number of pods in the node's domain.

Upstream: pkg/scheduler/framework/plugins/podtopologyspread (v1.36).
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.model.documents import Document
from seatrial.scheduler.cache.node_info import NodeInfo
from seatrial.scheduler.cache.node_table import Ints, Mask, Nodes, NodeTable
from seatrial.scheduler.cache.pod_info import PodInfo, PodShape
from seatrial.scheduler.cache.pod_terms import PodMatcher
from seatrial.scheduler.cache.topology_counts import seen_from, widened
from seatrial.scheduler.framework.cluster import ObjectLister
from seatrial.scheduler.framework.interface import MAX_NODE_SCORE, Handle, Plugin
from seatrial.scheduler.framework.row_rules import NO_LIMIT, DomainCheck, DomainRule, DomainTerm
from seatrial.scheduler.framework.status import MISSING, SKIP, Status, Verdicts, error, unresolvable, unschedulable
from seatrial.scheduler.plugins.node_resources.resource_allocation import Floats, round_half_away
from seatrial.scheduler.plugins.pod_topology_spread.arguments import ARGUMENTS
from seatrial.scheduler.plugins.pod_topology_spread.constraints import (
    HOSTNAME,
    Constraint,
    default_selector,
    read_constraints,
)
from seatrial.scheduler.plugins.pod_topology_spread.go_log import natural_log
from seatrial.scheduler.plugins.pod_topology_spread.hints import HINTS
from seatrial.scheduler.plugins.taint_toleration import COMPARISON_GATE

REASON = "node(s) didn't match pod topology spread constraints"
REASON_LABEL = f"{REASON} (missing required label)"
DO_NOT_SCHEDULE, SCHEDULE_ANYWAY = "DoNotSchedule", "ScheduleAnyway"
SYSTEM_DEFAULTS: tuple[Document, ...] = (
    {"topologyKey": HOSTNAME, "whenUnsatisfiable": SCHEDULE_ANYWAY, "maxSkew": 3},
    {"topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": SCHEDULE_ANYWAY, "maxSkew": 5},
)


@dataclass(frozen=True, slots=True)
class CountedRows:
    """The rows whose pods count for a constraint."""

    mask: Mask
    is_whole: bool
    """Whether all rows with the constraint's label are among them: then the sums of the domains are kept."""
    domains: Mask
    """Which values of the label they have, by the value's number."""
    is_labelled: bool
    """Whether all of them have the constraint's label."""
    matcher: PodMatcher | None
    """The pods that count; None if none does."""

    @classmethod
    def of(cls, mask: Mask, ids: NDArray[np.int32], matcher: PodMatcher | None) -> "CountedRows":
        counted = ids[mask]
        named = counted[counted >= 0]
        is_whole = bool(mask[ids >= 0].all())
        return cls(mask, is_whole, np.bincount(named) > 0, len(named) == len(counted), matcher)


@dataclass(frozen=True, slots=True)
class SpreadState:
    """Matching pods per domain of each hard constraint, and which domains there are."""

    plugin: "PodTopologySpread"
    table: NodeTable
    pod: PodInfo
    constraints: tuple[Constraint, ...]
    sums: tuple[Ints, ...]
    domains: tuple[Mask, ...]

    def fewest(self, index: int) -> int:
        """Pods in the emptiest domain; 0 while there are fewer domains than wanted."""
        present = self.domains[index]
        if int(present.sum()) < self.constraints[index].min_domains or not present.any():
            return 0
        return int(self.sums[index][: len(present)][present].min())

    def with_pod(self, pod: PodInfo, node: NodeInfo) -> "SpreadState":
        return self._changed(pod, node, 1)

    def without_pod(self, pod: PodInfo, node: NodeInfo) -> "SpreadState":
        return self._changed(pod, node, -1)

    def _changed(self, pod: PodInfo, node: NodeInfo, sign: int) -> "SpreadState":
        if pod.namespace != self.pod.namespace or any(c.key not in node.labels for c in self.constraints):
            return self
        sums = list(self.sums)
        for index, constraint in enumerate(self.constraints):
            if not constraint.selector.matches(pod.labels):
                continue
            if constraint.includes(self.pod, node, self.plugin.numbers):
                number = self.table.label(constraint.key).number(node.labels[constraint.key])
                sums[index] = widened(sums[index], number + 1)
                sums[index][number] += sign
        return self if all(a is b for a, b in zip(sums, self.sums, strict=True)) else replace(self, sums=tuple(sums))


@dataclass(frozen=True, slots=True)
class ScoreState:
    """Matching pods per domain of each soft constraint, its weight, and the nodes that do not count."""

    constraints: tuple[Constraint, ...]
    sums: tuple[Ints, ...]
    weights: tuple[float, ...]
    ignored: Mask


class PodTopologySpread(Plugin):
    """Pods per node come from the table; a cycle adds them up by domain."""

    arguments = ARGUMENTS
    requeues = HINTS

    @property
    def numbers(self) -> bool:
        """Whether tolerations may compare numbers."""
        return bool(self.handle.gates.get(COMPARISON_GATE))

    def __init__(self, args: Document | None = None, handle: Handle | None = None) -> None:
        super().__init__(args, handle)
        self._is_system_defaulted = self.args.get("defaultingType", "System") == "System"
        self._defaults = SYSTEM_DEFAULTS if self._is_system_defaulted else self.args.get("defaultConstraints") or ()
        self._versions: tuple[int, tuple[int, ...]] = -1, ()
        self._any_rows: tuple[tuple[int, int], dict[tuple[str, tuple[str, ...]], CountedRows]] = (-1, 0), {}
        self._default_actions = frozenset(entry.get("whenUnsatisfiable") for entry in self._defaults)

    @property
    def has_default_constraints(self) -> bool:
        """Whether pods without constraints of their own may get some."""
        return bool(self._defaults)

    def constraints(self, pod: PodInfo, action: str) -> tuple[Constraint, ...]:
        """The pod's own constraints, or the default ones where it belongs to a service or controller."""
        own = pod.spec.get("topologySpreadConstraints")
        key = (self, action)
        if own:
            if key not in pod.shape.notes:
                merges = self.handle.gates.get("MatchLabelKeysInPodTopologySpread", True)
                pod.shape.notes[key] = read_constraints(own, pod, action, merges_keys=merges)
            constraints: tuple[Constraint, ...] = pod.shape.notes[key]
            return constraints
        if action not in self._default_actions:
            return ()
        cluster, known = self.handle.cluster, pod.shape.notes.get(key)
        if known is not None and known[0] == cluster.changes:
            return tuple(known[2])
        version = self._version(cluster)
        constraints = known[2] if known is not None and known[1] == version else self._default(pod, action)
        pod.shape.notes[key] = (cluster.changes, version, constraints)
        return tuple(constraints)

    def _version(self, cluster: ObjectLister) -> tuple[int, ...]:
        """That of the objects from which default constraints follow."""
        if self._versions[0] != cluster.changes:
            self._versions = cluster.changes, tuple(map(cluster.version, _OWNERS))
        return self._versions[1]

    def _default(self, pod: PodInfo, action: str) -> tuple[Constraint, ...]:
        selector = default_selector(pod, self.handle.cluster)
        read = () if selector.is_empty else read_constraints(self._defaults, pod, action)
        return tuple(replace(constraint, selector=selector) for constraint in read)

    def skips_shape(self, shape: PodShape) -> bool:
        own = shape.spec.get("topologySpreadConstraints")
        actions = frozenset(entry.get("whenUnsatisfiable") for entry in own) if own else self._default_actions
        return DO_NOT_SCHEDULE not in actions

    def pre_filter(self, pod: PodInfo, nodes: Nodes) -> Any:
        constraints = self.constraints(pod, DO_NOT_SCHEDULE)
        if not constraints:
            return SKIP
        table, sums, domains = nodes.table, [], []
        for constraint, counted in zip(constraints, self._counted(pod, constraints, table, True), strict=True):
            column, matcher = table.label(constraint.key), counted.matcher
            if matcher is None:
                sums.append(np.zeros(len(column.values) + 1, np.int64))
            elif counted.is_whole:
                # A copy: states of two attempts are compared, and the sums go on with the table.
                sums.append(table.counts.matching(matcher, True).by_domain(column, table.version).copy())
            else:
                ids = column.ids[: table.size][counted.mask]
                pods = table.counts.matching(matcher, True).rows[: table.size][counted.mask]
                sums.append(np.bincount(ids, pods, len(column.values) + 1).astype(np.int64))
            domains.append(counted.domains)
        return SpreadState(self, table, pod, constraints, tuple(sums), tuple(domains))

    def filter(self, pod: PodInfo, nodes: Nodes, state: Any = MISSING) -> Verdicts:
        if state is MISSING:
            return Verdicts.failed(nodes, 'reading "PreFilterPodTopologySpread" from cycleState: not found')
        checks = []
        for index, constraint in enumerate(state.constraints):
            own = int(constraint.selector.matches(pod.labels))
            skew = seen_from(nodes, constraint.key, state.sums[index]) + (own - state.fewest(index))
            checks.append((nodes.label(constraint.key) < 0, unresolvable(REASON_LABEL)))
            checks.append((skew > constraint.max_skew, unschedulable(REASON)))
        return Verdicts.first_of(checks, nodes)

    def domain_checks(self, pod: PodInfo, state: SpreadState) -> list[DomainCheck]:
        """`filter` as bounds of the sums of domains."""
        checks = []
        for index, constraint in enumerate(state.constraints):
            own = int(constraint.selector.matches(pod.labels))
            highest = constraint.max_skew - own + state.fewest(index)
            checks.append(DomainCheck(constraint.key, state.sums[index], -NO_LIMIT, highest, True))
        return checks

    def domain_rules(self, pod: PodInfo, table: NodeTable) -> list[DomainRule] | None:
        """`pre_filter` and `filter` as rules for sums that are kept; None if some are not."""
        rules, constraints = [], self.constraints(pod, DO_NOT_SCHEDULE)
        for constraint, counted in zip(constraints, self._counted(pod, constraints, table, True), strict=True):
            matcher, column = constraint.matcher(pod.namespace), table.label(constraint.key)
            if not counted.is_whole or matcher is None:
                return None
            sums = table.counts.matching(matcher, True).by_domain(column, table.version)
            above = constraint.max_skew - int(constraint.selector.matches(pod.labels))
            domains = counted.domains.view(np.uint8), constraint.min_domains
            rules.append(DomainRule(constraint.key, sums, "skew", above, domains))
        return rules

    def domain_terms(self, pod: PodInfo, table: NodeTable) -> list[DomainTerm] | None:
        """No terms where `pre_score` skips the pod; other scores are not known as terms."""
        return None if self.constraints(pod, SCHEDULE_ANYWAY) else []

    def pre_score(self, pod: PodInfo, nodes: Nodes) -> Any:
        constraints = self.constraints(pod, SCHEDULE_ANYWAY)
        if not constraints:
            return SKIP
        table = nodes.table
        needs_labels = bool(pod.spec.get("topologySpreadConstraints")) or not self._is_system_defaulted
        ignored = np.zeros(len(nodes), np.bool_)
        if needs_labels:
            for constraint in constraints:
                ignored |= nodes.label(constraint.key) < 0
        sums, weights = [], []
        for constraint, counted in zip(constraints, self._counted(pod, constraints, table, needs_labels), strict=True):
            if constraint.key == HOSTNAME:
                size = len(nodes) - int(ignored.sum())
                sums.append(_NO_SUMS)
            else:
                feasible = nodes.label(constraint.key)[~ignored]
                size, per_domain = _domains(constraint, table, counted, feasible)
                sums.append(per_domain)
            weights.append(natural_log(size + 2))
        return ScoreState(constraints, tuple(sums), tuple(weights), ignored)

    def score(self, pod: PodInfo, nodes: Nodes, state: Any = MISSING) -> Ints | Status:
        if state is MISSING:
            return error('error reading "PreScorePodTopologySpread" from cycleState: not found')
        total: Floats = np.zeros(len(nodes))
        for constraint, sums, weight in zip(state.constraints, state.sums, state.weights, strict=True):
            ids = nodes.label(constraint.key)
            if constraint.key == HOSTNAME:
                matcher = constraint.matcher(pod.namespace)
                pods = 0 if matcher is None else nodes.matching(matcher, True).astype(np.int64)
            else:
                pods = sums[ids]
            total = total + np.where(ids < 0, 0.0, pods * weight + float(constraint.max_skew - 1))
        return np.where(state.ignored, 0, round_half_away(total))

    def normalize(self, pod: PodInfo, nodes: Nodes, scores: Ints, state: Any = MISSING) -> Ints | Status:
        if state is MISSING:
            return error('error reading "PreScorePodTopologySpread" from cycleState: not found')
        counting = scores[~state.ignored]
        highest = int(counting.max(initial=0))
        if highest == 0:
            return np.where(state.ignored, 0, MAX_NODE_SCORE)
        lowest = int(counting.min())
        return np.where(state.ignored, 0, MAX_NODE_SCORE * (highest + lowest - scores) // highest)

    def _counted(
        self, pod: PodInfo, constraints: tuple[Constraint, ...], table: NodeTable, needs_labels: bool
    ) -> list[CountedRows]:
        """For each constraint the rows whose pods count; kept with the shape until a node changes."""
        key = (self, constraints, needs_labels)
        known = pod.shape.notes.get(key)
        if known is None or known[0] != (table.version, table.size):
            needed = tuple([constraint.key for constraint in constraints]) if needs_labels else ()
            counted = [
                replace(self._rows(pod, constraint, needed, table), matcher=constraint.matcher(pod.namespace))
                for constraint in constraints
            ]
            known = pod.shape.notes[key] = ((table.version, table.size), counted)
        return list(known[1])

    def _rows(self, pod: PodInfo, constraint: Constraint, needed: tuple[str, ...], table: NodeTable) -> CountedRows:
        """The rows that count, whichever pods do; those for pods that may go to any node are kept until one changes."""
        at, place = (table.version, table.size), (constraint.key, needed)
        if self._any_rows[0] != at:
            self._any_rows = at, {}
        takes_any = constraint.takes_any_node(pod)
        found = self._any_rows[1].get(place) if takes_any else None
        if found is None:
            nodes, there = table.all(), table.alive[: table.size].copy()
            for key in needed:
                there &= nodes.label(key) >= 0
            there &= constraint.included(pod, nodes, self.numbers)
            found = CountedRows.of(there, nodes.label(constraint.key), None)
            if takes_any:
                self._any_rows[1][place] = found
        return found


def _domains(constraint: Constraint, table: NodeTable, counted: CountedRows, feasible: Any) -> tuple[int, Ints]:
    """How many domains the feasible nodes are in, and the matching pods of each.

    A node without the label counts as in the domain of the empty value.
    """
    column = table.label(constraint.key)
    size, nameless = len(column.values), column.find("")
    ids = np.where(feasible < 0, nameless if nameless >= 0 else size, feasible)
    domains = int((np.bincount(ids, minlength=1) > 0).sum())
    if counted.matcher is None:
        return domains, np.zeros(size + 1, np.int64)
    pods = table.counts.matching(counted.matcher, True)
    if counted.is_whole and counted.is_labelled:
        return domains, pods.by_domain(column, table.version).copy()
    rows = column.ids[: table.size][counted.mask]
    rows = np.where(rows < 0, nameless if nameless >= 0 else size, rows)
    return domains, np.bincount(rows, pods.rows[: table.size][counted.mask], size + 1).astype(np.int64)


_NO_SUMS: Ints = np.zeros(1, np.int64)
_OWNERS = ("Service", "ReplicationController", "ReplicaSet", "StatefulSet")
