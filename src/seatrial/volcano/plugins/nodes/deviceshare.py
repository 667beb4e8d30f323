"""deviceshare: GPU cards that pods share by memory (`GPUSharingEnable`) or hold whole (`GPUNumberEnable`).

vGPU, MIG, Ascend devices and rules of exclusive GPUs are not simulated; a configuration that asks for them is refused.

Upstream: plugins/deviceshare/deviceshare.go. There the predicates plugin calls the devices when a task is allocated, so
without it nothing is reserved.
"""

from collections.abc import Iterator

import numpy as np

from seatrial.scheduler.framework import Code
from seatrial.volcano.cache.fit_errors import FitStatus, Statuses
from seatrial.volcano.cache.gpu_cards import (
    GPU_INDEX,
    GPU_MEMORY,
    GPU_NUMBER,
    PREDICATE_TIME,
    GpuCards,
    cards_of,
    limit_of,
)
from seatrial.volcano.cache.node_columns import Floats, Rows
from seatrial.volcano.cache.node_info import NodeInfo
from seatrial.volcano.cache.task_info import TERMINATED_STATUSES, TaskInfo, TaskStatus
from seatrial.volcano.config.arguments import Arguments
from seatrial.volcano.framework.extension_points import Point
from seatrial.volcano.framework.plugin import NodeByNode, Plugin

SHARING, NUMBER = "deviceshare.GPUSharingEnable", "deviceshare.GPUNumberEnable"
NOT_SIMULATED = (
    "deviceshare.VGPUEnable",
    "deviceshare.AscendMindClusterVNPUEnable",
    "deviceshare.AscendHAMiVNPUEnable",
)
NANOSECONDS = 1000
"""In a microsecond, the unit of the clock."""
EXCLUSIVE_RULES = "deviceshare.GPUExclusiveRules"


class DeviceShare(Plugin):
    """Keeps the cards of every node."""

    name = "deviceshare"

    @classmethod
    def faults(cls, arguments: Arguments) -> Iterator[tuple[str, str]]:
        if arguments.boolean(SHARING, False) and arguments.boolean(NUMBER, False):
            yield SHARING, f"cannot be true together with {NUMBER}"
        for key in NOT_SIMULATED:
            if arguments.boolean(key, False):
                yield key, f"is not simulated; only {SHARING} and {NUMBER} are"
        if arguments.get(EXCLUSIVE_RULES):
            yield EXCLUSIVE_RULES, "is not simulated"

    def on_session_open(self) -> None:
        session = self.session
        self._shares = self.arguments.boolean(SHARING, False)
        self._numbers = self.arguments.boolean(NUMBER, False)
        self._cards: dict[str, GpuCards] = {}
        if self._shares or self._numbers:
            for node in session.node_list:
                if (cards := GpuCards.read(node.facts.document)) is not None:
                    self._cards[node.name] = cards
                    for task, status in node.listed():
                        if status not in (TaskStatus.RELEASING, TaskStatus.PIPELINED):
                            self._put_back(cards, task)
        self.add_predicate(NodeByNode(session.node_list, self._judge))
        self.add(Point.NODE_ORDER, self._score)
        self.add(Point.BATCH_NODE_ORDER, self._score)
        if "predicates" in {option.name for tier in session.conf.tiers for option in tier}:
            session.subscribe(self)

    def _asked(self, task: TaskInfo) -> tuple[int, int]:
        """The memory and the number of cards that a task asks for."""
        return limit_of(task.pod.spec, GPU_MEMORY), limit_of(task.pod.spec, GPU_NUMBER)

    def _put_back(self, cards: GpuCards, task: TaskInfo) -> None:
        """Count a task on the cards that it was given earlier."""
        memory, number = self._asked(task)
        if memory or number:
            cards.put(task.uid, cards_of(task.pod.annotations), 0 if task.status in TERMINATED_STATUSES else memory)

    def _judge(self, task: TaskInfo, node: NodeInfo) -> Statuses:
        cards = self._cards.get(node.name)
        if cards is None:
            return ()
        memory, number = self._asked(task)
        if self._shares and memory and not cards.with_memory(memory):
            return (FitStatus(Code.UNSCHEDULABLE, f"GpuShare no enough gpu memory on node {node.name}", self.name),)
        if self._numbers and number and not cards.idle(number):
            return (FitStatus(Code.UNSCHEDULABLE, f"GpuNumber no enough gpu number on node {node.name}", self.name),)
        return ()

    def _score(self, task: TaskInfo, rows: Rows) -> Floats:
        """GPU cards do not score, whatever `deviceshare.ScheduleWeight` is."""
        return np.zeros(len(rows))

    def on_allocate(self, task: TaskInfo) -> bool | None:
        cards = self._cards.get(task.node_name)
        memory, number = self._asked(task)
        if cards is None or not ((self._shares and memory) or (self._numbers and number)):
            return None
        if cards_of(task.pod.annotations):
            self._put_back(cards, task)
            return None
        chosen = cards.with_memory(memory)[:1] if memory else cards.idle(number)
        if not chosen:
            return False
        cards.put(task.uid, chosen, memory)
        task.pod_annotations = {
            PREDICATE_TIME: str(self.session.now * NANOSECONDS),
            GPU_INDEX: ",".join(map(str, chosen)),
        }
        return True

    def on_deallocate(self, task: TaskInfo) -> None:
        cards = self._cards.get(task.node_name)
        if cards is not None:
            cards.remove(task.uid)
            task.pod_annotations = {}
