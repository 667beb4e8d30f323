"""predicates: kube-scheduler's filters, and the number of pods a node takes.

Its event handler keeps the pods of kube-scheduler's node table up to date: without this plugin they stay as they were
when the session opened. Resources are not filtered here; the actions look at them.

Upstream: plugins/predicates/predicates.go.
"""

from collections.abc import Callable, Hashable, Sequence

import numpy as np

from seatrial.model.documents import Document
from seatrial.scheduler.cache import PODS
from seatrial.scheduler.framework import Code, Verdicts
from seatrial.volcano.cache.fit_errors import REJECTED, FitStatus, Severities, Statuses
from seatrial.volcano.cache.node_columns import Floats, Rows
from seatrial.volcano.cache.node_info import NodeInfo
from seatrial.volcano.cache.task_info import TaskInfo
from seatrial.volcano.framework.extension_points import Point
from seatrial.volcano.framework.kube import CycleState, Filter, Score, fit_statuses, spec_key
from seatrial.volcano.framework.plugin import Plugin

POD_NUMBER_EXCEEDED = "node(s) pod number exceeded"
_STABLE = (
    ("NodeUnschedulable", ""),
    ("NodeAffinity", "predicate.NodeAffinityEnable"),
    ("TaintToleration", "predicate.TaintTolerationEnable"),
)
_OTHERS = (
    ("NodePorts", "predicate.NodePortsEnable"),
    ("InterPodAffinity", "predicate.PodAffinityEnable"),
    ("NodeVolumeLimits", "predicate.NodeVolumeLimitsEnable"),
    ("VolumeZone", "predicate.VolumeZoneEnable"),
    ("PodTopologySpread", "predicate.PodTopologySpreadEnable"),
    ("VolumeBinding", "predicate.VolumeBindingEnable"),
    ("DynamicResources", ""),
)
_ARGS: dict[str, Document] = {
    "PodTopologySpread": {"defaultingType": "System"},
    "InterPodAffinity": {"hardPodAffinityWeight": 0},
}
_READING_STATE = ("NodePorts", "InterPodAffinity", "PodTopologySpread")
"""Filters that fail with an error where their PreFilter has not run."""
_RESERVING = ("VolumeBinding", "DynamicResources")
_PRE_FILTER_ORDER = (
    "NodeAffinity",
    "NodePorts",
    "InterPodAffinity",
    "NodeVolumeLimits",
    "VolumeZone",
    "PodTopologySpread",
    "VolumeBinding",
    "DynamicResources",
)


class Predicates(Plugin):
    """Runs the filters; every one that rejects a node is reported, until one does for good."""

    name = "predicates"

    def on_session_open(self) -> None:
        session = self.session
        enabled = [name for name, key in (*_STABLE, *_OTHERS) if not key or self.arguments.boolean(key, True)]
        kube = session.kube
        self._filters = {name: Filter(kube.plugin(name, _ARGS.get(name)), kube, session.kube_kept) for name in enabled}
        nodewise = [each for each in self._filters.values() if each.reads_nodes_alone]
        self._nodewise, self._others = nodewise, [each for each in self._filters.values() if each not in nodewise]
        self._known: dict[Hashable, Severities | None] = {}
        self._pre_filters = [
            self._filters[name] for name in _PRE_FILTER_ORDER if name in enabled and self._filters[name].pre_filters
        ]
        self._asked: dict[int, tuple[object, frozenset[str], list[Filter]]] = {}
        reserving = [self._filters[name].plugin for name in _RESERVING if name in self._filters]
        self._reserving = [plugin for plugin in reserving if hasattr(plugin, "reserve")]
        scores_claims = session.conf.version.rules.scores_claims
        scoring = [plugin for plugin in reserving if scores_claims or plugin.name != "DynamicResources"]
        self._scores = [Score(plugin, 1, kube, session.kube_kept) for plugin in scoring]
        self._states: dict[str, CycleState] = {}
        self._max_tasks = np.asarray([node.allocatable.max_tasks for node in session.node_list], np.int64)
        self.add(Point.PRE_PREDICATE, self._pre_predicate)
        self.add_predicate(self)
        self.add(Point.BATCH_NODE_ORDER, self._batch_score)
        session.subscribe(self)

    def state_of(self, task: TaskInfo) -> CycleState:
        """What PreFilter left behind for a task."""
        state = self._states.get(task.uid)
        if state is None:
            state = self._states[task.uid] = CycleState()
        return state

    def lacks_state(self, task: TaskInfo) -> bool:
        return not self.state_of(task).is_prepared and any(name in self._filters for name in _READING_STATE)

    def _pre_predicate(self, task: TaskInfo) -> str:
        state = self.state_of(task)
        skipped, asked = self._pre_filters_for(task)
        for each in asked:
            failed = each.pre_filter(task, state)
            if failed is not None:
                state.skipped |= skipped.intersection(_before(each.name))
                return f"plugin {each.name} pre-predicates failed {failed.message}"
        state.skipped |= skipped
        state.is_prepared = True
        return ""

    def _pre_filters_for(self, task: TaskInfo) -> tuple[frozenset[str], list[Filter]]:
        """The filters that skip all pods of a spec, and those whose PreFilter is to be asked."""
        if not self.session.options.keeps_columns:
            return frozenset(), self._pre_filters
        shape = task.pod.shape
        known = self._asked.get(id(shape.shared))
        if known is None:
            skipped = frozenset(each.name for each in self._pre_filters if each.plugin.skips_shape(shape))
            asked = [each for each in self._pre_filters if each.name not in skipped]
            known = self._asked[id(shape.shared)] = shape.shared, skipped, asked  # the spec is kept for its id
        return known[1:]

    def passes_dry_run(self, task: TaskInfo, node: NodeInfo) -> bool:
        """By the affinity between pods and by devices alone: a dry run of upstream asks no other filter."""
        affinity, devices = self._filters.get("InterPodAffinity"), node.devices
        if affinity is not None and affinity.name not in self.state_of(task).skipped:
            state = CycleState()
            if affinity.pre_filter(task, state) is not None:
                return False
            severity = affinity.severity(task, state)
            if severity is not None and severity[node.row]:
                return False
        return devices is None or not devices.asks(task.pod) or not devices.refusal(task.pod, "")

    def severity(self, task: TaskInfo) -> Severities:
        """How unfit each node is: the worst that a filter says."""
        state = self.state_of(task)
        total = self.session.kube_kept.by_row.get(self.name, self._full, self._is_full)
        keeps = self.session.options.keeps_columns
        stable = self._by_node(task, state) if keeps else _worst(self._nodewise, task, state)
        for other in (stable, _worst(self._others, task, state)):
            if other is not None:
                total = np.maximum(total, other)
        return total

    def _by_node(self, task: TaskInfo, state: CycleState) -> Severities | None:
        """The worst that filters say that read nothing but nodes, which do not change in a session."""
        key = spec_key(task.pod.shape), state.is_prepared, *[each.name in state.skipped for each in self._nodewise]
        if key not in self._known:
            worst = _worst(self._nodewise, task, state)
            self._known[key] = worst if worst is not None and worst.any() else None
        return self._known[key]

    def _full(self, rows: Rows | None) -> Severities:
        """The nodes that have as many pods as they take."""
        pods = self.session.kube.table.requested_column(PODS)
        if rows is None:
            return ((self._max_tasks <= pods) * REJECTED).astype(np.int8)
        return ((self._max_tasks[rows] <= pods[rows]) * REJECTED).astype(np.int8)

    def _is_full(self, row: int) -> int:
        offered, pods = self._max_tasks.item(row), self.session.kube.table.amounts_of_row(row, PODS, PODS)[1]
        return REJECTED if offered <= pods else 0

    def explain(self, task: TaskInfo) -> Callable[[int], Statuses]:
        state = self.state_of(task)
        full = self._full(None)
        verdicts: dict[str, Verdicts] = {}
        for name, each in self._filters.items():
            answer = each.verdicts(task, state)
            if answer is not None:
                verdicts[name] = answer

        def statuses(row: int) -> Statuses:
            first = [FitStatus(Code.UNSCHEDULABLE, POD_NUMBER_EXCEEDED, self.name)] if full[row] else []
            return [*first, *fit_statuses(verdicts, row)]

        return statuses

    def _batch_score(self, task: TaskInfo, rows: Rows) -> Floats | None:
        total, skipped = None, self.state_of(task).skipped
        for score in self._scores:
            if score.plugin.name not in skipped:
                found = score(task, rows, self.session.kube.table.take(rows))
                if found is not None:
                    total = found if total is None else total + found
        return total

    def on_allocate(self, task: TaskInfo) -> bool:
        state = self.state_of(task)
        if not state.is_prepared:
            # A victim whose eviction is undone: upstream's Reserve fails for want of a PreFilter state, and the pod is
            # missing in what filters and scores see for the rest of the session.
            return False
        info = self.session.nodes[task.node_name]
        node = info.kube
        for plugin in self._reserving:
            if plugin.name in state.states:
                status = plugin.reserve(task.pod, node, state.states[plugin.name])
                if status is not None and not status.is_success:
                    return False
        if info.devices is not None and info.devices.asks(task.pod):
            noted = info.devices.allocate(task.pod)
            if noted is None:
                return False
            task.pod_annotations |= noted
        self.session.kube.add(task, task.node_name)
        return True

    def on_deallocate(self, task: TaskInfo) -> None:
        node = self.session.nodes.get(task.node_name)
        if node is None:
            return
        state = self.state_of(task)
        for name in reversed(_RESERVING):
            unreserve = getattr(self._filters[name].plugin, "unreserve", None) if name in self._filters else None
            if unreserve is not None and name in state.states:
                unreserve(task.pod, node.kube, state.states[name])
        if node.devices is not None and node.devices.asks(task.pod):
            for key in node.devices.release(task.pod):
                task.pod_annotations.pop(key, None)
        self.session.kube.remove(task, task.node_name)


def _before(name: str) -> tuple[str, ...]:
    """The filters whose PreFilter runs before that of another."""
    return _PRE_FILTER_ORDER[: _PRE_FILTER_ORDER.index(name)]


def _worst(filters: Sequence[Filter], task: TaskInfo, state: CycleState) -> Severities | None:
    """The worst that filters say about each node; None where all pass all nodes."""
    total: Severities | None = None
    for each in [each for each in filters if each.name not in state.skipped]:
        found = each.severity(task, state)
        if found is not None:
            total = found if total is None else np.maximum(total, found)
    return total
