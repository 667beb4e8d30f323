"""nodegroup: queues use the groups of nodes that their affinity names. Upstream: plugins/nodegroup/nodegroup.go."""

from dataclasses import dataclass, field

import numpy as np

from seatrial.model.documents import Document, decode
from seatrial.scheduler.framework import Code
from seatrial.volcano.cache.fit_errors import FitStatus, Statuses
from seatrial.volcano.cache.node_columns import Floats, Rows
from seatrial.volcano.cache.node_info import NodeInfo
from seatrial.volcano.cache.queue_info import ROOT, QueueInfo
from seatrial.volcano.cache.resource import MIN_RESOURCE, Resource
from seatrial.volcano.cache.task_info import ALLOCATED_STATUSES, TaskInfo
from seatrial.volcano.framework.extension_points import Point
from seatrial.volcano.framework.plugin import NodeByNode, Plugin

GROUP_LABEL = "volcano.sh/nodegroup-name"
LIMITS = "volcano.sh/nodegroup-resource-limits"
BASE_SCORE = 100
NO_AFFINITY = "node group affinity not specified"
NO_LABEL = "node group label not found"
UNSATISFIED = "node does not satisfy the node group affinity"
BAD_LIMITS = "node group resource limit annotation invalid"
OVER_LIMIT = "node group resource limit exceeded"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


@dataclass(frozen=True, slots=True)
class Affinity:
    """The node groups a queue must, would rather, and would rather not use."""

    required: tuple[str, ...]
    preferred: tuple[str, ...]
    anti_required: tuple[str, ...]
    anti_preferred: tuple[str, ...]

    @classmethod
    def read(cls, spec: Document) -> "Affinity | None":
        affinity = spec.get("affinity")
        if affinity is None:
            return None
        near, far = (affinity.get(part) or {} for part in ("nodeGroupAffinity", "nodeGroupAntiAffinity"))
        return cls(*(tuple(part.get(key) or ()) for part in (near, far) for key in (_REQUIRED, _PREFERRED)))

    @property
    def is_set(self) -> bool:
        return bool(self.required or self.preferred or self.anti_required or self.anti_preferred)

    def allows(self, group: str) -> bool:
        if group in self.anti_preferred:
            return True
        return group not in self.anti_required and (group in self.required or group in self.preferred)

    def score(self, group: str, in_order: bool) -> float:
        if group in self.anti_preferred:
            return -1.0
        score = float(BASE_SCORE) if group in self.required else 0.0
        if group in self.preferred:
            count = len(dict.fromkeys(self.preferred))
            place = len(self.preferred) - 1 - self.preferred[::-1].index(group)
            score += 0.5 * BASE_SCORE * float(count - place) / float(count) if in_order else 0.5 * BASE_SCORE
        return score


@dataclass(slots=True)
class QueueGroups:
    """A queue's affinity, its limits in each group, and what it holds there."""

    affinity: Affinity | None
    limits: dict[str, Resource] = field(default_factory=dict)
    limited: dict[str, tuple[str, ...]] = field(default_factory=dict)
    is_faulty: bool = False
    held: dict[str, Resource] = field(default_factory=dict)


class NodeGroup(Plugin):
    """Keeps queues to their groups of nodes."""

    name = "nodegroup"

    def on_session_open(self) -> None:
        session = self.session
        self._strict = self.arguments.boolean("strict", True)
        self._in_order = self.arguments.boolean("enablePreferredOrder", False)
        limits = session.conf.version.rules.limits_node_groups
        self._queues = {name: _read(queue, limits=limits) for name, queue in session.queues.items()}
        if session.conf.hierarchy_enabled(self.name):
            own = {name: groups.affinity for name, groups in self._queues.items()}
            for name, groups in self._queues.items():
                groups.affinity = self._inherited(name, own)
        for job in session.jobs.values():
            for task in job.index:
                if task.status in ALLOCATED_STATUSES:
                    self._count(task, 1)
        self.add(Point.NODE_ORDER, self._score)
        self.add_predicate(NodeByNode(session.node_list, self._judge))
        session.subscribe(self)

    def _inherited(self, name: str, own: dict[str, Affinity | None]) -> Affinity | None:
        """A queue's affinity, or that of the next queue above it that has one."""
        seen: set[str] = set()
        while name in own and name not in seen:
            if own[name] is not None or name == ROOT:
                return own[name]
            seen.add(name)
            name = self.session.queues[name].parent or ROOT
        return None

    def _score(self, task: TaskInfo, rows: Rows) -> Floats:
        affinity = self._queues[self.session.jobs[task.job].queue].affinity
        scores = np.zeros(len(rows))
        if affinity is None:
            return scores
        for place, row in enumerate(rows.tolist()):
            group = self.session.node_list[row].kube.labels.get(GROUP_LABEL)
            if group is not None:
                scores[place] = affinity.score(group, self._in_order)
        return scores

    def _judge(self, task: TaskInfo, node: NodeInfo) -> Statuses:
        reason = self._reason(task, node)
        return (FitStatus(Code.UNRESOLVABLE, reason, self.name),) if reason else ()

    def _reason(self, task: TaskInfo, node: NodeInfo) -> str:
        groups = self._queues[self.session.jobs[task.job].queue]
        if groups.is_faulty:
            return BAD_LIMITS
        affinity = groups.affinity
        group = node.kube.labels.get(GROUP_LABEL)
        is_unset = affinity is None or not affinity.is_set
        if group is None:
            return "" if not self._strict and is_unset else NO_LABEL
        if affinity is None or is_unset:
            return NO_AFFINITY
        if not affinity.allows(group):
            return UNSATISFIED
        limit = groups.limits.get(group)
        if limit is not None:
            used = groups.held.get(group, Resource()).clone().add(task.resreq)
            if any(used.get(name) - limit.get(name) >= MIN_RESOURCE for name in groups.limited[group]):
                return OVER_LIMIT
        return ""

    def on_allocate(self, task: TaskInfo) -> None:
        self._count(task, 1)

    def on_deallocate(self, task: TaskInfo) -> None:
        self._count(task, -1)

    def _count(self, task: TaskInfo, sign: int) -> None:
        job, node = self.session.jobs.get(task.job), self.session.nodes.get(task.node_name)
        group = node.kube.labels.get(GROUP_LABEL) if node is not None else None
        if job is None or group is None:
            return
        held = self._queues[job.queue].held.setdefault(group, Resource())
        if sign > 0:
            held.add(task.resreq)
        else:
            held.sub(task.resreq)


def _read(queue: QueueInfo, *, limits: bool) -> QueueGroups:
    groups = QueueGroups(Affinity.read(queue.spec))
    text = (queue.document["metadata"].get("annotations") or {}).get(LIMITS)
    if text and limits:
        try:
            listed = decode(text.encode())
            groups.limits = {group: Resource.read(resources) for group, resources in listed.items()}
            groups.limited = {group: tuple(resources or ()) for group, resources in listed.items()}
        except (ValueError, AttributeError):
            groups.is_faulty = True
    return groups
