"""network-topology-aware: tasks of a job close together in the network, HyperNodes filled up one after the other.

Upstream: plugins/network-topology-aware/network_topology_aware.go.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from seatrial.volcano.cache.hyper_node_info import HyperNodeInfo
from seatrial.volcano.cache.job_info import JobInfo
from seatrial.volcano.cache.node_columns import Floats, Rows
from seatrial.volcano.cache.node_info import NodeInfo
from seatrial.volcano.cache.resource import CPU, MEMORY, Resource
from seatrial.volcano.cache.sub_job_info import SubJobInfo
from seatrial.volcano.cache.task_info import TaskInfo, TaskStatus
from seatrial.volcano.framework.extension_points import Point
from seatrial.volcano.framework.plugin import Plugin

FULL, ZERO = 1.0, 0.0
MAX_NODE_SCORE = 100.0
DEFAULT_FADING = 0.8
DEFAULT_MOST_TO_EVICT = 8
Gradients = list[list[HyperNodeInfo]]


@dataclass(slots=True)
class DomainResources:
    """What the nodes of a HyperNode have together; only `used` follows the session."""

    allocatable: Resource
    used: Resource
    idle: Resource
    future_idle: Resource

    @classmethod
    def of(cls, nodes: Sequence[NodeInfo]) -> "DomainResources":
        total = cls(Resource(), Resource(), Resource(), Resource())
        for node in nodes:
            total.allocatable.add(node.allocatable)
            total.used.add(node.used)
            total.idle.add(node.idle)
            total.future_idle.add(node.future_idle)
        return total


class NetworkTopologyAware(Plugin):
    """Chooses HyperNodes for jobs, and nodes near to tasks placed before."""

    name = "network-topology-aware"

    def on_session_open(self) -> None:
        arguments, hyper_nodes = self.arguments, self.session.hyper_nodes
        self._weight = _positive(arguments.integer("weight", 1))
        self._weights = {
            CPU: _positive(arguments.integer("hypernode.binpack.cpu", 1)),
            MEMORY: _positive(arguments.integer("hypernode.binpack.memory", 1)),
        }
        for part in arguments.text("hypernode.binpack.resources").split(","):
            if name := part.strip():
                self._weights[name] = _positive(arguments.integer(f"hypernode.binpack.resources.{name}", 1))
        self._packs_normal_pods = arguments.boolean("hypernode.binpack.normal-pod.enable", True)
        fading = arguments.number("hypernode.binpack.normal-pod.fading", DEFAULT_FADING)
        self._fading = fading if fading >= 0 else DEFAULT_FADING
        most = arguments.integer("hypernode.gradient.evict.max-hypernodes", DEFAULT_MOST_TO_EVICT)
        self._most_to_evict = most if most > 0 else DEFAULT_MOST_TO_EVICT
        self._tiers = list(hyper_nodes.by_tier)
        self._nodes = {name: {node.name for node in nodes} for name, nodes in hyper_nodes.real_nodes.items()}
        self._domains = {n: DomainResources.of(hyper_nodes.real_nodes.get(n, ())) for n in hyper_nodes.infos}
        self.add(Point.HYPER_NODE_ORDER, self._order_hyper_nodes)
        self.add(Point.BATCH_NODE_ORDER, self._score)
        self.add(Point.HYPER_NODE_GRADIENT_FOR_JOB, self._job_gradients)
        self.add(Point.HYPER_NODE_GRADIENT_FOR_SUB_JOB, self._sub_job_gradients)
        self.session.subscribe(self)

    def on_allocate(self, task: TaskInfo) -> None:
        for name in self._around(task.node_name):
            self._domains[name].used.add(task.resreq)

    def on_deallocate(self, task: TaskInfo) -> None:
        for name in self._around(task.node_name):
            self._domains[name].used.sub(task.resreq)

    def _around(self, node: str) -> list[str]:
        return [name for name, nodes in self._nodes.items() if node in nodes]

    # -- gradients ---------------------------------------------------------------------------------------------

    def _job_gradients(self, job: JobInfo, hyper_node: HyperNodeInfo, evicts: bool) -> Gradients:
        return self._gradients(job.hard_tier, job.allocated_hyper_node, job.min_resources, hyper_node, evicts)

    def _sub_job_gradients(self, sub_job: SubJobInfo, hyper_node: HyperNodeInfo, evicts: bool) -> Gradients:
        least = Resource()
        for task in sub_job.index.of(TaskStatus.PENDING).values():
            least.add(task.resreq)
        return self._gradients(sub_job.hard_tier, sub_job.allocated_hyper_node, least, hyper_node, evicts)

    def _gradients(
        self, highest: int | None, place: str, least: Resource, hyper_node: HyperNodeInfo, evicts: bool
    ) -> Gradients:
        """The HyperNodes that may do, by tier, lowest first; for evictions highest first, and not too many."""
        if highest is None:
            return [[hyper_node]]
        root = self._search_root(hyper_node, highest, place)
        if root is None:
            return []
        infos = self.session.hyper_nodes.infos
        queue, by_tier = [root], dict[int, list[HyperNodeInfo]]()
        for current in queue:
            if current.tier <= highest and (place or self._has_room(current, least, evicts)):
                by_tier.setdefault(current.tier, []).append(current)
            queue.extend(infos[child] for child in sorted(current.children) if infos[child] not in queue)
        gradients = [by_tier[tier] for tier in sorted(by_tier)]
        return self._capped(gradients) if evicts else gradients

    def _has_room(self, hyper_node: HyperNodeInfo, least: Resource, evicts: bool) -> bool:
        domain = self._domains[hyper_node.name]
        if evicts:
            return least.less_equal(domain.allocatable)
        return least.less_equal(domain.idle) or least.less_equal(domain.future_idle)

    def _search_root(self, available: HyperNodeInfo, highest: int, place: str) -> HyperNodeInfo | None:
        """Where to start: below what is available, and not above the tier allowed from where tasks are."""
        if not place:
            return available
        hyper_nodes = self.session.hyper_nodes
        allowed = ""
        for name in hyper_nodes.ancestors(place):
            if name not in hyper_nodes.infos or hyper_nodes.infos[name].tier > highest:
                break
            allowed = name
        if not allowed:
            return None
        common = hyper_nodes.lowest_common(available.name, allowed)
        if common == allowed:
            return available
        return hyper_nodes.infos[allowed] if common == available.name else None

    def _capped(self, gradients: Gradients) -> Gradients:
        left, found = self._most_to_evict, []
        for gradient in reversed(gradients):
            if not left:
                break
            taken = gradient[-left:]
            found.append(taken)
            left -= len(taken)
        return found

    # -- scores ------------------------------------------------------------------------------------------------

    def _order_hyper_nodes(self, sub_job: SubJobInfo, groups: dict[str, list[NodeInfo]]) -> dict[str, float]:
        request: dict[str, float] = {}
        for task in sub_job.index:
            for name in task.resreq.names():
                if name in self._weights:
                    request[name] = request.get(name, 0.0) + task.resreq.get(name)
        scores = {name: self._packed(request, name) for name in groups}
        highest = max(scores.values(), default=-1.0)
        best = [name for name, score in scores.items() if score == highest]
        if len(best) > 1:
            for name in best:
                scores[name] += self._task_share(name, sub_job)
        return {name: MAX_NODE_SCORE * float(self._weight) * score for name, score in scores.items()}

    def _packed(self, request: dict[str, float], hyper_node: str) -> float:
        """How full a HyperNode is with a request; 0 where it does not fit."""
        domain = self._domains[hyper_node]
        total, weights = 0.0, 0
        for name, amount in request.items():
            after, whole = domain.used.get(name) + amount, domain.allocatable.get(name)
            if after > whole:
                return ZERO
            total += float(self._weights[name]) * (after / whole)
            weights += self._weights[name]
        return total / float(weights) if weights > 0 else ZERO

    def _task_share(self, hyper_node: str, sub_job: SubJobInfo) -> float:
        nodes = self._nodes.get(hyper_node, set())
        count = len(sub_job.index)
        return sum(task.node_name in nodes for task in sub_job.index) / float(count) if count else ZERO

    def _score(self, task: TaskInfo, rows: Rows) -> Floats:
        job = self.session.jobs[task.job]
        sub_job = job.sub_jobs[job.sub_job_of[task.uid]]
        nodes = [self.session.node_list[row] for row in rows.tolist()]
        scores = self._near(task, sub_job, nodes) if sub_job.network_topology is not None else self._spread(task, nodes)
        return MAX_NODE_SCORE * float(self._weight) * scores

    def _near(self, task: TaskInfo, sub_job: SubJobInfo, nodes: list[NodeInfo]) -> Floats:
        """How close nodes are to the HyperNode of the tasks placed before."""
        place, hyper_nodes = task.job_allocated_hyper_node, self.session.hyper_nodes
        if not place:
            return np.zeros(len(nodes))
        lowest = [hyper_nodes.lowest_of(node.name) for node in nodes]
        scores = np.asarray([self._closeness(name, place) for name in lowest])
        best = np.flatnonzero(scores == scores.max())
        if len(best) > 1:
            for index in best.tolist():
                scores[index] += self._task_share(lowest[index], sub_job)
        return scores

    def _closeness(self, hyper_node: str, place: str) -> float:
        if not hyper_node:
            return ZERO
        if hyper_node == place:
            return FULL
        common = self.session.hyper_nodes.infos.get(self.session.hyper_nodes.lowest_common(hyper_node, place))
        if common is None:
            return ZERO
        lowest, highest = self._tiers[0], self._tiers[-1]
        if lowest == highest:
            return FULL
        return float(highest - common.tier) / float(highest - lowest) if lowest <= common.tier <= highest else ZERO

    def _spread(self, task: TaskInfo, nodes: list[NodeInfo]) -> Floats:
        """How full the HyperNodes around a node are with the task, those of low tiers counting most."""
        scores = np.zeros(len(nodes))
        tiers = range(self._tiers[0], self._tiers[-1] + 1)
        weights = {tier: math.pow(self._fading, float(tier - 1)) for tier in tiers}
        total = sum(weights.values())
        if not self._packs_normal_pods or total <= 0:
            return scores
        request = {name: task.resreq.get(name) for name in task.resreq.names() if name in self._weights}
        by_tier = self.session.hyper_nodes.by_tier
        packed = {name: self._packed(request, name) for names in by_tier.values() for name in names}
        for index, node in enumerate(nodes):
            score = 0.0
            for tier in tiers:
                around = [name for name in by_tier.get(tier, ()) if node.name in self._nodes.get(name, ())]
                score += weights[tier] * (packed[around[0]] if around else FULL)
            scores[index] = score / total
        return scores


def _positive(weight: int) -> int:
    return weight if weight >= 0 else 1
