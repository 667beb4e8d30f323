"""binpack: the fuller a node is with the task, the better. Upstream: plugins/binpack/binpack.go."""

from collections.abc import Hashable

import numpy as np

from seatrial.volcano.cache.node_columns import Floats, Rows
from seatrial.volcano.cache.resource import CPU, MEMORY, Resource
from seatrial.volcano.cache.task_info import TaskInfo
from seatrial.volcano.config.arguments import Arguments
from seatrial.volcano.framework.extension_points import Point
from seatrial.volcano.framework.plugin import Plugin

MAX_NODE_SCORE = 100
_Parts = tuple[list[tuple[float, float, Floats, Floats]], int]


def weights_of(arguments: Arguments) -> dict[str, int]:
    """The weight of each resource that counts."""
    weights: dict[str, int] = {}
    for part in arguments.text("binpack.resources").split(","):
        name = part.strip()
        if name:
            weights[name] = _positive(arguments.integer(f"binpack.resources.{name}", 1))
    weights[CPU] = _positive(arguments.integer("binpack.cpu", 1))
    weights[MEMORY] = _positive(arguments.integer("binpack.memory", 1))
    return weights


def _positive(weight: int) -> int:
    return 1 if weight < 0 else weight


class Binpack(Plugin):
    """Scores nodes by how much of them is used."""

    name = "binpack"

    def on_session_open(self) -> None:
        self._weight = self.arguments.integer("binpack.weight", 1)
        self._weights = weights_of(self.arguments)
        self._parts: dict[Hashable, _Parts] = {}
        if self._weight:
            self.add(Point.NODE_ORDER, self._score)

    def _score(self, task: TaskInfo, rows: Rows) -> Floats:
        request = task.resreq
        column: Floats = self.session.kept.get(
            (self, task.request_key), lambda some: self._column(request, some), lambda row: self._of_row(task, row)
        )
        return column[rows]

    def _parts_of(self, task: TaskInfo) -> "_Parts":
        """Amount, weight, and the columns of what nodes offer and have in use, for each resource that counts."""
        columns, request = self.session.columns, task.resreq
        weighed = [(name, weight) for name in request.names() if (weight := self._weights.get(name)) is not None]
        counted = [
            (request.get(name), float(weight), columns.allocatable[name], columns.used[name])
            for name, weight in weighed
            if weight
        ]
        return counted, sum(weight for _, weight in weighed)

    def _of_row(self, task: TaskInfo, row: int) -> float:
        """The same for one node, step by step in the same order."""
        known = self._parts.get(task.request_key)
        if known is None:
            known = self._parts[task.request_key] = self._parts_of(task)
        counted, weight_sum = known
        total = 0.0
        for amount, weight, offered, present in counted:
            capacity = offered.item(row)
            if capacity == 0:
                continue
            used = amount + present.item(row)
            if used > capacity:
                return 0.0
            total += used * weight / capacity
        if weight_sum > 0:
            total /= float(weight_sum)
        return total * float(MAX_NODE_SCORE * self._weight)

    def _column(self, request: Resource, rows: Rows | None) -> Floats:
        columns = self.session.columns
        chosen: Rows | slice = slice(None) if rows is None else rows
        total = np.zeros(columns.size if rows is None else len(rows))
        too_full = np.zeros(len(total), np.bool_)
        weight_sum = 0
        for name in request.names():
            weight = self._weights.get(name)
            if weight is None:
                continue
            capacity = columns.column(columns.allocatable, name)[chosen]
            used = columns.column(columns.used, name)[chosen]
            weight_sum += weight
            if not weight:
                continue
            finally_used = request.get(name) + used
            there = capacity != 0
            too_full |= there & (finally_used > capacity)
            with np.errstate(divide="ignore", invalid="ignore"):
                total = total + np.where(there, finally_used * float(weight) / capacity, 0.0)
        if weight_sum > 0:
            total = total / float(weight_sum)
        return np.where(too_full, 0.0, total * float(MAX_NODE_SCORE * self._weight))
