"""rescheduling: moves tasks from busy nodes to idle ones, for the shuffle action.

Upstream: plugins/rescheduling (rescheduling.go, low_node_utilization.go, node_utilization_util.go).
"""

from collections.abc import Mapping, Sequence
from functools import cmp_to_key
from typing import Any

from seatrial.model.documents import Document
from seatrial.model.durations import DurationError, parse_duration
from seatrial.model.times import MINUTE
from seatrial.store.registry import quality_of_service
from seatrial.volcano.cache.node_info import NodeInfo
from seatrial.volcano.cache.task_info import TaskInfo
from seatrial.volcano.framework.extension_points import Point
from seatrial.volcano.framework.plugin import Plugin
from seatrial.volcano.plugins.nodes.node_usage import NodeUsage, node_usages

STRATEGY = "lowNodeUtilization"
DEFAULT_INTERVAL = 5 * MINUTE
_LAST_RUN = "rescheduling"
_QOS = {"BestEffort": 0, "Burstable": 1, "Guaranteed": 2}


class Rescheduling(Plugin):
    """Once in an interval, offers tasks of overused nodes as victims while underused nodes have room."""

    name = "rescheduling"

    def on_session_open(self) -> None:
        try:
            self._interval = parse_duration(self.arguments.text("interval"))
        except DurationError:
            self._interval = DEFAULT_INTERVAL
        given = self.arguments.get("strategies")
        strategies: list[Document] = given if isinstance(given, list) and given else [{"name": STRATEGY}]
        params = next((s.get("params") or {} for s in strategies if s.get("name") == STRATEGY), None)
        memory, now = self.session.options.memory, self.session.now
        last = memory.setdefault(_LAST_RUN, now)
        assert isinstance(last, int)
        if last + self._interval >= now or params is None:
            return
        memory[_LAST_RUN] = now
        self._low = _thresholds(params.get("thresholds"))
        self._high = _thresholds(params.get("targetThresholds"))
        self.add(Point.VICTIM_TASKS, self._victims)

    def _victims(self, tasks: Sequence[TaskInfo]) -> list[TaskInfo]:
        usages = node_usages(self.session)
        nodes = self.session.node_list
        low = [node for node in nodes if self._is_low(node, usages[node.name])]
        high = [node for node in nodes if node not in low and _exceeds(usages[node.name], self._high)]
        if not low or len(low) == len(nodes) or not high:
            return []
        room = self._room(low, usages)
        movable = {task.name: task for task in reversed(tasks)}
        victims: list[TaskInfo] = []
        for node in sorted(high, key=lambda one: -(usages[one.name].cpu + usages[one.name].memory)):
            for task in sorted((task for task, _ in node.listed()), key=cmp_to_key(_less_important)):
                if not _reaches(usages[node.name], self._high) or 0 in room:
                    break
                if task.name in movable:
                    self._move(movable[task.name], node, usages[node.name], room)
                    victims.append(movable[task.name])
        return victims

    def _is_low(self, node: NodeInfo, usage: NodeUsage) -> bool:
        return not node.kube.unschedulable and not _reaches(usage, self._low)

    def _room(self, low: Sequence[NodeInfo], usages: Mapping[str, NodeUsage]) -> list[int]:
        """How much more cpu and memory the underused nodes take."""
        room = [0, 0]
        for node in low:
            usage = usages[node.name]
            parts = ((node.allocatable.cpu, "cpu", usage.cpu), (node.allocatable.memory, "memory", usage.memory))
            for place, (whole, name, used) in enumerate(parts):
                room[place] += int(self._high[name] * whole * 0.01) - int(used * whole * 0.01)
        return room

    def _move(self, task: TaskInfo, node: NodeInfo, usage: NodeUsage, room: list[int]) -> None:
        room[0] -= int(task.resreq.cpu)
        room[1] -= int(task.resreq.memory)
        usage.cpu -= task.resreq.cpu * 100 / node.capacity.cpu if node.capacity.cpu else 0.0
        usage.memory -= task.resreq.memory * 100 / node.capacity.memory if node.capacity.memory else 0.0

    def wakes_at(self) -> int | None:
        last = self.session.options.memory.get(_LAST_RUN)
        return last + self._interval + 1 if isinstance(last, int) else None


def _thresholds(given: Any) -> dict[str, float]:
    found = {"cpu": 100.0, "memory": 100.0}
    if isinstance(given, Mapping):
        found |= {name: float(value) for name, value in given.items() if name in found}
    return found


def _exceeds(usage: NodeUsage, thresholds: Mapping[str, float]) -> bool:
    return usage.cpu > thresholds["cpu"] or usage.memory > thresholds["memory"]


def _reaches(usage: NodeUsage, thresholds: Mapping[str, float]) -> bool:
    return usage.cpu >= thresholds["cpu"] or usage.memory >= thresholds["memory"]


def _less_important(left: TaskInfo, right: TaskInfo) -> int:
    """Pods without a priority first, then by priority, then by quality of service."""
    one, other = left.pod.spec.get("priority"), right.pod.spec.get("priority")
    if (one is None) != (other is None):
        return -1 if one is None else 1
    if one is not None and other is not None and one != other:
        return int(one) - int(other)
    return _QOS[_qos(left)] - _QOS[_qos(right)]


def _qos(task: TaskInfo) -> str:
    return quality_of_service(task.pod.spec)
