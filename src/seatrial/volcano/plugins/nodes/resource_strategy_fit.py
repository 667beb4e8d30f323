"""resource-strategy-fit: full or empty nodes first, resource by resource; scarce resources are kept free.

Upstream: plugins/resource-strategy-fit (resource_strategy_fit.go, sra.go, proportional.go).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from seatrial.model.documents import decode
from seatrial.scheduler.framework import Code
from seatrial.volcano.cache.fit_errors import FitStatus, Statuses
from seatrial.volcano.cache.node_columns import Floats, Rows
from seatrial.volcano.cache.node_info import NodeInfo
from seatrial.volcano.cache.task_info import TaskInfo
from seatrial.volcano.framework.extension_points import Point
from seatrial.volcano.framework.plugin import NodeByNode, Plugin

MOST, LEAST = "MostAllocated", "LeastAllocated"
TYPE_ANNOTATION = "volcano.sh/resource-strategy-scoring-type"
WEIGHT_ANNOTATION = "volcano.sh/resource-strategy-weight"
MAX_NODE_SCORE = 100.0
DEFAULT_WEIGHT = 10


@dataclass(frozen=True, slots=True)
class ResourceStrategy:
    """How one resource is scored."""

    type: str
    weight: int


class ResourceStrategyFit(Plugin):
    """Scores nodes by strategy; a task that needs no scarce resource avoids the nodes that have it."""

    name = "resource-strategy-fit"

    def on_session_open(self) -> None:
        weight = self.arguments.integer("resourceStrategyFitWeight", DEFAULT_WEIGHT)
        self._weight = weight if weight >= 0 else DEFAULT_WEIGHT
        self._strategies = _strategies(self.arguments.get("resources"))
        sra = self.arguments.get("sra") or {}
        self._sra_weight = int(sra.get("weight") or 0) if sra.get("enable") else 0
        self._scarce = _listed(sra.get("resources"), sra.get("resourceWeight") or {})
        proportional = self.arguments.get("proportional") or {}
        self._proportions = _proportions(proportional) if proportional.get("enable") else None
        if self._proportions is not None:
            self.add_predicate(NodeByNode(self.session.node_list, self._judge))
        if self._weight > 0 or self._sra_weight > 0:
            self.add(Point.NODE_ORDER, self._score)

    def _score(self, task: TaskInfo, rows: Rows) -> Floats:
        total = np.zeros(len(rows))
        if self._weight > 0:
            total = total + self._fit(task, rows)
        if self._sra_weight > 0:
            total = total + self._sra(task, rows)
        return total

    def _fit(self, task: TaskInfo, rows: Rows) -> Floats:
        strategies = self._strategies
        kind = task.pod.annotations.get(TYPE_ANNOTATION)
        if kind:
            weights = _json(task.pod.annotations.get(WEIGHT_ANNOTATION))
            if weights is None:
                return np.zeros(len(rows))
            strategies = {name: ResourceStrategy(kind, int(weight)) for name, weight in weights.items()}
        columns = self.session.columns
        total, too_full = np.zeros(len(rows)), np.zeros(len(rows), np.bool_)
        weight_sum = 0
        for name in task.resreq.names():
            strategy = strategies.get(name) if kind else _matching(name, strategies)
            if strategy is None:
                continue
            weight_sum += strategy.weight
            if not strategy.weight or strategy.type not in (MOST, LEAST):
                continue
            capacity = columns.column(columns.allocatable, name)[rows]
            used = task.resreq.get(name) + columns.column(columns.used, name)[rows]
            there = capacity != 0
            too_full |= there & (used > capacity)
            part = used if strategy.type == MOST else capacity - used
            with np.errstate(divide="ignore", invalid="ignore"):
                total = total + np.where(there, part * float(strategy.weight) / capacity, 0.0)
        if weight_sum > 0:
            total = total / float(weight_sum)
        return np.where(too_full, 0.0, total * (MAX_NODE_SCORE * float(self._weight)))

    def _sra(self, task: TaskInfo, rows: Rows) -> Floats:
        """Nodes without scarce resources score highest; a node that lacks what the task wants scores nothing."""
        columns = self.session.columns
        lacking = np.zeros(len(rows), np.bool_)
        for name in task.resreq.names():
            lacking |= columns.column(columns.allocatable, name)[rows] == 0
        score = np.zeros(len(rows))
        for name, weight in self._scarce.items():
            score = score + np.where(columns.column(columns.allocatable, name)[rows] > 0, float(weight), 0.0)
        weight_sum = sum(self._scarce.values())
        if weight_sum > 0:
            score = 1.0 - score / float(weight_sum)
        return np.where(lacking, 0.0, score * (MAX_NODE_SCORE * self._sra_weight))

    def _judge(self, task: TaskInfo, node: NodeInfo) -> Statuses:
        """Whether cpu and memory in proportion to a node's idle scarce resources stay free."""
        proportions = self._proportions or {}
        if any(task.resreq.get(name) > 0 for name in proportions):
            return ()
        idle = node.idle
        for name, (cpu, memory) in proportions.items():
            amount = idle.get(name)
            if name not in (node.allocatable.scalars or {}):
                continue
            short = idle.cpu - task.resreq.cpu < amount * cpu
            if short or idle.memory - task.resreq.memory < amount * memory * 1000 * 1000:
                text = f"proportional of resource {name} check failed"
                return (FitStatus(Code.UNRESOLVABLE, text, self.name),)
        return ()


def _strategies(given: Any) -> dict[str, ResourceStrategy]:
    if not isinstance(given, Mapping) or not given:
        return {"cpu": ResourceStrategy(LEAST, 1), "memory": ResourceStrategy(LEAST, 1)}
    found = {}
    for name, entry in given.items():
        if "*" in name and (name == "*" or name.count("*") > 1 or not name.endswith("*")):
            continue
        weight, kind = int(entry.get("weight") or 0), entry.get("type")
        found[name] = ResourceStrategy(kind if kind in (MOST, LEAST) else LEAST, weight if weight > 0 else 1)
    return found


def _matching(name: str, strategies: Mapping[str, ResourceStrategy]) -> ResourceStrategy | None:
    """The strategy of a resource: by its name, or by the longest pattern `prefix*`."""
    if name in strategies:
        return strategies[name]
    patterns = [key for key in strategies if key.endswith("*") and name.startswith(key[:-1]) and len(key) > 1]
    return strategies[max(patterns, key=len)] if patterns else None


def _listed(text: Any, weights: Mapping[str, Any]) -> dict[str, int]:
    found = {}
    for part in str(text or "").split(","):
        name = part.strip()
        if name:
            weight = int(weights.get(name, 1))
            found[name] = weight if weight >= 0 else 1
    return found


def _proportions(given: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    rates = given.get("resourceProportion") or {}

    def rate(key: str) -> float:
        value = float(rates.get(key, 1.0))
        return value if value >= 0 else 1.0

    return {name: (rate(f"{name}.cpu"), rate(f"{name}.memory")) for name in _listed(given.get("resources"), {})}


def _json(text: str | None) -> Mapping[str, Any] | None:
    try:
        decoded = decode(text.encode()) if text else None
    except ValueError:
        return None
    return decoded if isinstance(decoded, Mapping) else None
