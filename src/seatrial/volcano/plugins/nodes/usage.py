"""usage: nodes under real load are avoided; what was placed but does not show in the load yet is estimated.

Upstream: plugins/usage (usage.go, estimator.go, shadow_cache.go).
"""

from typing import Any

import numpy as np

from seatrial.model.durations import DurationError, parse_duration
from seatrial.model.quantity import Quantity, QuantityError
from seatrial.model.times import SECOND
from seatrial.scheduler.framework import Code
from seatrial.volcano.cache.fit_errors import FitStatus, Statuses
from seatrial.volcano.cache.node_columns import Floats, Rows
from seatrial.volcano.cache.node_info import NodeInfo
from seatrial.volcano.cache.task_info import TaskInfo, TaskStatus, limits_of
from seatrial.volcano.config.arguments import Arguments
from seatrial.volcano.framework.extension_points import Point
from seatrial.volcano.framework.plugin import NodeByNode, Plugin
from seatrial.volcano.plugins.nodes.node_usage import node_usages

CPU_EXCEEDED = "the CPU load of the node exceeds the upper limit."
MEMORY_EXCEEDED = "the memory load of the node exceeds the upper limit."
MAX_NODE_SCORE = 100.0
DEFAULT_INTERVAL = 30 * SECOND
_JUST_PLACED = (TaskStatus.ALLOCATED, TaskStatus.BINDING, TaskStatus.BOUND)
_MEBI = 1024.0 * 1024.0


class Usage(Plugin):
    """Adds estimates of new tasks to the load of nodes."""

    name = "usage"

    def on_session_open(self) -> None:
        session = self.session
        arguments = self.arguments
        self._weight = _at_least_zero(arguments.integer("usage.weight", 5), 5)
        self._cpu_weight = _at_least_zero(arguments.integer("cpu.weight", 1), 1)
        self._memory_weight = _at_least_zero(arguments.integer("memory.weight", 1), 1)
        thresholds = Arguments(arguments.get("thresholds") if isinstance(arguments.get("thresholds"), dict) else None)
        self._most_cpu = _percentage(thresholds.integer("cpu", 80))
        self._most_memory = _percentage(thresholds.integer("mem", 80))
        given = Arguments(arguments.get("estimator") if isinstance(arguments.get("estimator"), dict) else None)
        self._request_ratio = _ratio(given.number("request_ratio", 0.7), 0.7)
        self._burst_ratio = _ratio(given.number("burst_ratio", 0.0), 0.0)
        self._risk_threshold = _ratio(given.number("risk_threshold", 0.6), 0.6)
        risk = given.number("risk_factor", 1.2)
        self._risk_factor = risk if risk >= 1 else 1.2
        self._best_effort = (_cpu(given.get("be_cpu")), _memory(given.get("be_mem")))
        self._usages = node_usages(session)
        self._estimates: dict[str, tuple[str, float, float]] = {}
        """What each new task is estimated to use, by uid, and on which node."""
        self._sums: dict[str, tuple[float, float]] = {}
        for node in session.node_list:
            for task, status in node.listed():
                if status in _JUST_PLACED or (status is TaskStatus.RUNNING and self._is_fresh(task)):
                    self._add(task, node)
        self.add_predicate(NodeByNode(session.node_list, self._judge))
        self.add(Point.NODE_ORDER, self._score)
        session.subscribe(self)

    def _is_fresh(self, task: TaskInfo) -> bool:
        """Whether a task started after the load was last measured."""
        try:
            interval = parse_duration(str(self.session.conf.metrics.get("interval", "30s")))
        except DurationError:
            interval = DEFAULT_INTERVAL
        interval = interval if interval > 0 else DEFAULT_INTERVAL
        return task.pod.start_time is None or self.session.now - task.pod.start_time < interval

    def _judge(self, task: TaskInfo, node: NodeInfo) -> Statuses:
        usage = self._usages[node.name]
        if usage.cpu > self._most_cpu:
            return (FitStatus(Code.UNRESOLVABLE, CPU_EXCEEDED, self.name),)
        if usage.memory > self._most_memory:
            return (FitStatus(Code.UNRESOLVABLE, MEMORY_EXCEEDED, self.name),)
        return ()

    def _score(self, task: TaskInfo, rows: Rows) -> Floats:
        return np.asarray([self._of_node(self.session.node_list[row]) for row in rows.tolist()])

    def _of_node(self, node: NodeInfo) -> float:
        weights = self._cpu_weight + self._memory_weight
        if not weights:
            return 0.0
        cpu, memory = self._load(node)
        score = ((1.0 - cpu) * float(self._cpu_weight) + (1.0 - memory) * float(self._memory_weight)) / float(weights)
        return score * MAX_NODE_SCORE * float(self._weight)

    def _load(self, node: NodeInfo) -> tuple[float, float]:
        """The measured and the estimated load of a node together, as shares of its capacity."""
        usage, (cpu, memory) = self._usages[node.name], self._sums.get(node.name, (0.0, 0.0))
        return _share(usage.cpu, cpu, node.capacity.cpu), _share(usage.memory, memory, node.capacity.memory)

    def _add(self, task: TaskInfo, node: NodeInfo) -> None:
        weights = self._cpu_weight + self._memory_weight
        cpu, memory = self._load(node)
        weighted = cpu * float(self._cpu_weight) + memory * float(self._memory_weight)
        load = weighted / float(weights) if weights else 0.0
        risk = self._risk_factor if load >= self._risk_threshold else 1.0
        if task.best_effort:
            more = self._best_effort[0] * risk, self._best_effort[1] * risk
        else:
            limit = limits_of(task)
            more = (
                self._estimate(task.resreq.cpu, limit.cpu, risk),
                self._estimate(task.resreq.memory, limit.memory, risk),
            )
        self._remove(task)
        before = self._sums.get(node.name, (0.0, 0.0))
        self._sums[node.name] = (before[0] + more[0], before[1] + more[1])
        self._estimates[task.uid] = (node.name, *more)

    def _estimate(self, request: float, limit: float, risk: float) -> float:
        most = request if limit <= 0 or limit < request else limit
        estimate = (request * self._request_ratio + (most - request) * self._burst_ratio) * risk
        return min(max(estimate, 0.0), most)

    def _remove(self, task: TaskInfo) -> None:
        known = self._estimates.pop(task.uid, None)
        if known is not None:
            name, cpu, memory = known
            before = self._sums[name]
            self._sums[name] = (max(before[0] - cpu, 0.0), max(before[1] - memory, 0.0))

    def on_allocate(self, task: TaskInfo) -> None:
        node = self.session.nodes.get(task.node_name)
        if node is not None:
            self._add(task, node)

    def on_deallocate(self, task: TaskInfo) -> None:
        self._remove(task)


def _share(percentage: float, estimate: float, capacity: float) -> float:
    if capacity <= 0:
        return 0.0
    return min(max((percentage / 100.0 * capacity + estimate) / capacity, 0.0), 1.0)


def _at_least_zero(value: int, default: int) -> int:
    return value if value >= 0 else default


def _percentage(value: int) -> float:
    return float(value) if 0 <= value <= 100 else 80.0


def _ratio(value: float, default: float) -> float:
    return value if 0 <= value <= 1 else default


def _cpu(value: Any) -> float:
    """The cpu a pod without requests is estimated to use, in thousandths."""
    amount = _quantity(value, 1.0)
    return 250.0 if amount is None else amount


def _memory(value: Any) -> float:
    """The memory a pod without requests is estimated to use, in bytes; a plain number is in mebibytes."""
    if isinstance(value, str):
        try:
            quantity = Quantity.parse(value)
        except QuantityError:
            return 200.0 * _MEBI
        return float(quantity.value()) if quantity.sign >= 0 else 200.0 * _MEBI
    amount = _quantity(value, _MEBI)
    return 200.0 * _MEBI if amount is None else amount


def _quantity(value: Any, unit: float) -> float | None:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return float(value) * unit
    if isinstance(value, str):
        try:
            quantity = Quantity.parse(value)
        except QuantityError:
            return None
        return float(quantity.milli_value()) if quantity.sign >= 0 else None
    return None
