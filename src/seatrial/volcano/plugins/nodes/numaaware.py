"""numa-aware: pods with whole cpus go where their cpus are close together. Upstream: plugins/numaaware/numaaware.go."""

from collections.abc import Callable

import numpy as np

from seatrial.model.documents import Document
from seatrial.model.quantity import Quantity
from seatrial.scheduler.framework import Code
from seatrial.volcano.apis.labels import NUMA_POLICY
from seatrial.volcano.cache.fit_errors import FitStatus, Severities, Statuses
from seatrial.volcano.cache.node_columns import Floats, Rows
from seatrial.volcano.cache.node_info import NodeInfo
from seatrial.volcano.cache.numa_info import CPU_MANAGER, TOPOLOGY_MANAGER, Cpus, NumatopoInfo, ResourceSets
from seatrial.volcano.cache.task_info import TaskInfo
from seatrial.volcano.framework.extension_points import Point
from seatrial.volcano.framework.plugin import NodeByNode, Plugin
from seatrial.volcano.plugins.nodes.cpu_assignment import CpuRequest

NO_INFO = "numa info is empty"
NOT_STATIC = "cpu manager policy isn't static"
NO_CPUS = "cpu allocatable map is empty"
MAX_NODE_SCORE = 100
_UNSET = ("", "none")
_NONE: Cpus = frozenset()


class NumaAware(Plugin):
    """Assigns cpus to tasks node by node, and remembers what it assigned until they are placed."""

    name = "numa-aware"

    def on_session_open(self) -> None:
        session = self.session
        self._weight = self.arguments.integer("weight", 1)
        self._infos = session.cluster.numatopologies.refresh()
        self._free: dict[str, ResourceSets] = {name: dict(info.free) for name, info in self._infos.items()}
        self._assigned: dict[str, dict[str, Cpus]] = {}
        """The cpus of each task on each node it was tried on, by uid."""
        self._placed: dict[str, tuple[TaskInfo, str]] = {}
        """Tasks with their nodes, by uid."""
        self._guaranteed: dict[str, bool] = {}
        self.add_predicate(_GuaranteedOnly(self))
        self.add(Point.BATCH_NODE_ORDER, self._score)
        session.subscribe(self)

    def on_session_close(self) -> None:
        pods = {(task.uid, task.namespace, task.name): name for task, name in self._placed.values()}
        sets = {pod: (name, {"cpu": self._assigned[pod[0]][name]}) for pod, name in pods.items()}
        self.session.cluster.numatopologies.assign(sets)

    # -- nodes -------------------------------------------------------------------------------------------------

    def is_guaranteed(self, task: TaskInfo) -> bool:
        known = self._guaranteed.get(task.uid)
        if known is None:
            known = self._guaranteed[task.uid] = _is_guaranteed(task.pod.spec)
        return known

    def judge(self, task: TaskInfo, node: NodeInfo) -> Statuses:
        info = self._infos.get(node.name)
        policy = task.pod.annotations.get(NUMA_POLICY, "")
        if policy not in _UNSET:
            error = self._mismatch(policy, info, node)
            if error:
                return (FitStatus(Code.ERROR, error),)
        elif info is None or info.policies.get(CPU_MANAGER) != "static":
            return ()
        if info is None or (policy in _UNSET and info.policies.get(TOPOLOGY_MANAGER, "") in _UNSET):
            return ()
        free, assigned = dict(self._free[node.name]), _NONE
        for container in task.pod.spec.get("containers") or ():
            request = CpuRequest(container, info, free)
            hint = request.best_hint()
            if hint is None:
                text = f"container {container.get('name', '')} cannot be assigned by numa"
                return (FitStatus(Code.UNRESOLVABLE, text, self.name),)
            cpus = request.assign(hint)
            assigned |= cpus
            free["cpu"] = free.get("cpu", _NONE) - cpus
        self._assigned.setdefault(task.uid, {})[node.name] = assigned
        return ()

    def _mismatch(self, policy: str, info: NumatopoInfo | None, node: NodeInfo) -> str:
        """Why a task with a policy of its own cannot use a node whatever its cpus; empty where it can."""
        if info is None:
            return NO_INFO
        if info.policies.get(CPU_MANAGER) != "static":
            return NOT_STATIC
        given = info.policies.get(TOPOLOGY_MANAGER, "")
        if policy != given:
            return f"task topology policy[{policy}] is different with node[{given}]"
        return "" if self._free[node.name].get("cpu") else NO_CPUS

    def _score(self, task: TaskInfo, rows: Rows) -> Floats:
        assigned = self._assigned.get(task.uid)
        if assigned is None or task.pod.annotations.get(NUMA_POLICY, "") in _UNSET:
            return np.zeros(len(rows))
        counts = []
        for row in rows.tolist():
            name = self.session.node_list[row].name
            counts.append(len({self._infos[name].cpus[cpu].numa for cpu in assigned.get(name, _NONE)}))
        most = max(counts, default=0)
        scores = [MAX_NODE_SCORE - (MAX_NODE_SCORE * count // most if most else 0) for count in counts]
        return np.asarray([float(score * self._weight) for score in scores])

    # -- events ------------------------------------------------------------------------------------------------

    def on_allocate(self, task: TaskInfo) -> None:
        cpus = self._assigned.get(task.uid, {}).get(task.node_name)
        if cpus is not None:
            self._change(task.node_name, _NONE, cpus)
            self._placed[task.uid] = task, task.node_name

    def on_deallocate(self, task: TaskInfo) -> None:
        cpus = self._assigned.get(task.uid, {}).get(task.node_name)
        if cpus is not None:
            self._placed.pop(task.uid, None)
            self._change(task.node_name, cpus, _NONE)

    def _change(self, name: str, back: Cpus, taken: Cpus) -> None:
        free = self._free[name]
        if "cpu" in free:
            free["cpu"] = (free["cpu"] | back) - taken


class _GuaranteedOnly(NodeByNode):
    """Looks at the nodes for guaranteed pods only."""

    def __init__(self, plugin: NumaAware) -> None:
        super().__init__(plugin.session.node_list, plugin.judge)
        self._plugin = plugin

    def severity(self, task: TaskInfo) -> Severities | None:
        return super().severity(task) if self._plugin.is_guaranteed(task) else None

    def explain(self, task: TaskInfo) -> Callable[[int], Statuses]:
        return super().explain(task) if self._plugin.is_guaranteed(task) else lambda row: ()


def _is_guaranteed(spec: Document) -> bool:
    """Whether every container limits cpu and memory and the pod requests as much (ComputePodQOS)."""
    containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    parts = [spec["resources"]] if spec.get("resources") else [c.get("resources") or {} for c in containers]
    limits = [_amounts(part.get("limits")) for part in parts]
    requests = [_amounts(part.get("requests")) for part in parts]
    if not parts or any(len(limit) < 2 for limit in limits):
        return False
    return all(sum(r.get(n, 0) for r in requests) == sum(limit[n] for limit in limits) for n in ("cpu", "memory"))


def _amounts(given: Document | None) -> dict[str, int]:
    """Cpu and memory in thousandths, where there is some."""
    amounts = given or {}
    found = {name: Quantity.parse(amounts[name]).milli_value() for name in ("cpu", "memory") if name in amounts}
    return {name: amount for name, amount in found.items() if amount > 0}
