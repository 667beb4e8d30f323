"""deviceshare: GPUs shared by memory (`GPUSharingEnable`), held whole (`GPUNumberEnable`) or divided (`VGPUEnable`).

Ascend devices are not simulated; a configuration that asks for them is refused.

Upstream: plugins/deviceshare/deviceshare.go. The predicates plugin calls the devices when a task is allocated, so
without it nothing is reserved.
"""

from collections.abc import Callable, Iterator

import numpy as np

from seatrial.model.documents import Document
from seatrial.scheduler.framework import Code
from seatrial.volcano.cache.devices.exclusive import ExclusiveVgpus, read_rules
from seatrial.volcano.cache.devices.gpu_cards import GpuCards
from seatrial.volcano.cache.devices.interface import Devices
from seatrial.volcano.cache.devices.vgpu import HAMI_CORE, Vgpus
from seatrial.volcano.cache.devices.vgpu_config import VgpuConfig
from seatrial.volcano.cache.fit_errors import REJECTED, FitStatus, Severities, Statuses
from seatrial.volcano.cache.node_columns import Floats, Rows
from seatrial.volcano.cache.task_info import TaskInfo
from seatrial.volcano.config.arguments import Arguments
from seatrial.volcano.framework.extension_points import Point
from seatrial.volcano.framework.plugin import Plugin

SHARING, NUMBER, VGPU = "deviceshare.GPUSharingEnable", "deviceshare.GPUNumberEnable", "deviceshare.VGPUEnable"
NOT_SIMULATED = ("deviceshare.AscendMindClusterVNPUEnable", "deviceshare.AscendHAMiVNPUEnable")
EXCLUSIVE_RULES = "deviceshare.GPUExclusiveRules"
POLICY, WEIGHT = "deviceshare.SchedulePolicy", "deviceshare.ScheduleWeight"
CONFIG_MAP, CONFIG_NAMESPACE = "deviceshare.KnownGeometriesCMName", "deviceshare.KnownGeometriesCMNamespace"


class DeviceShare(Plugin):
    """Gives every node its devices, and asks them."""

    name = "deviceshare"

    @classmethod
    def faults(cls, arguments: Arguments) -> Iterator[tuple[str, str]]:
        chosen = [key for key in (SHARING, NUMBER, VGPU) if arguments.boolean(key, False)]
        if len(chosen) > 1:
            yield chosen[0], f"cannot be true together with {chosen[1]}"
        for key in NOT_SIMULATED:
            if arguments.boolean(key, False):
                yield key, f"is not simulated; only {SHARING}, {NUMBER} and {VGPU} are"

    def on_session_open(self) -> None:
        self._policy = self.arguments.text(POLICY)
        self._weight = self.arguments.integer(WEIGHT, 0)
        self._devices: dict[int, Devices] = {}
        """By row."""
        rules = read_rules(self.arguments.get(EXCLUSIVE_RULES))
        read = self._reader()
        for node in self.session.node_list:
            devices = read(node.facts.document) if read else None
            if devices is None:
                continue
            node.share(devices)
            if rules and isinstance(devices, Vgpus) and devices.mode == HAMI_CORE:
                node.devices = devices = ExclusiveVgpus(devices, rules, (task.pod for task in node.tasks.values()))
            self._devices[node.row] = devices
        self.add_predicate(self)
        self.add(Point.NODE_ORDER, self._score)
        self.add(Point.BATCH_NODE_ORDER, lambda task, rows: np.zeros(len(rows)))

    def _reader(self) -> Callable[[Document], Devices | None] | None:
        """What makes devices of a node."""
        arguments, now = self.arguments, self.session.now
        if arguments.boolean(VGPU, False):
            name = arguments.text(CONFIG_MAP, "volcano-vgpu-device-config")
            namespace = arguments.text(CONFIG_NAMESPACE, "kube-system")
            config = VgpuConfig.read(self.session.cluster.objects.get("ConfigMap", name, namespace))
            return lambda node: Vgpus.read(node, config, self._policy, now)
        by_memory = arguments.boolean(SHARING, False)
        if by_memory or arguments.boolean(NUMBER, False):
            return lambda node: GpuCards.read(node, by_memory, now)
        return None

    def severity(self, task: TaskInfo) -> Severities | None:
        asked = self._asked(task)
        if not asked:
            return None
        found = np.zeros(len(self.session.node_list), np.int8)
        for row, devices in asked.items():
            if devices.refusal(task.pod, self._policy):
                found[row] = REJECTED
        return found

    def explain(self, task: TaskInfo) -> Callable[[int], Statuses]:
        refusals = {row: devices.refusal(task.pod, self._policy) for row, devices in self._asked(task).items()}

        def statuses(row: int) -> Statuses:
            text = refusals.get(row)
            return (FitStatus(Code.UNSCHEDULABLE, text, self.name),) if text else ()

        return statuses

    def passed(self, task: TaskInfo, rows: Rows) -> None:
        """Nodes fit: upstream remembers what the task gives them for the score, until another one fits."""
        asked = self._asked(task) if self._weight > 0 else {}
        for row in rows.tolist() if asked else ():
            if row in asked:
                asked[row].passed(task.pod, self._policy)

    def _asked(self, task: TaskInfo) -> dict[int, Devices]:
        """The devices of all nodes, if a task wants such."""
        one = next(iter(self._devices.values()), None)
        return self._devices if one is not None and one.asks(task.pod) else {}

    def _score(self, task: TaskInfo, rows: Rows) -> Floats:
        asked = self._asked(task) if self._weight > 0 else {}
        scores = [np.floor(asked[row].score + 0.5) if row in asked else 0.0 for row in rows.tolist()]
        return np.asarray(scores, np.float64) * float(self._weight)
