"""Buckets of tasks that want to be together, for the task-topology plugin.

Upstream: plugins/task-topology/bucket.go, manager.go, util.go.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cmp_to_key

from seatrial.volcano.apis.labels import TASK_SPEC
from seatrial.volcano.cache.job_info import JobInfo
from seatrial.volcano.cache.resource import Resource
from seatrial.volcano.cache.task_info import TaskInfo

AFFINITY = "volcano.sh/task-topology-affinity"
ANTI_AFFINITY = "volcano.sh/task-topology-anti-affinity"
TASK_ORDER = "volcano.sh/task-topology-task-order"
_SELF_ANTI, _INTER, _SELF, _INTER_ANTI = 4, 3, 2, 1
"""How much each kind of relation counts when tasks are ordered."""
_MEBI = 1024 * 1024
Groups = list[list[str]]


@dataclass(slots=True)
class Bucket:
    """Tasks to be placed on one node, if they fit."""

    index: int
    tasks: dict[str, TaskInfo] = field(default_factory=dict)
    """Those still to be placed, by uid."""
    names: dict[str, int] = field(default_factory=dict)
    request: Resource = field(default_factory=Resource)
    score: float = 0.0
    bound: int = 0
    nodes: dict[str, int] = field(default_factory=dict)

    def add(self, name: str, task: TaskInfo) -> None:
        self.names[name] = self.names.get(name, 0) + 1
        if task.node_name:
            self._note_bound(task)
            return
        self.tasks[task.uid] = task
        self.score += _weight(task.resreq)
        self.request.add(task.resreq)

    def bind(self, task: TaskInfo) -> None:
        self._note_bound(task)
        self.tasks.pop(task.uid, None)
        self.score -= _weight(task.resreq)
        self.request.sub(task.resreq)

    def _note_bound(self, task: TaskInfo) -> None:
        self.nodes[task.node_name] = self.nodes.get(task.node_name, 0) + 1
        self.bound += 1


@dataclass(slots=True)
class JobBuckets:
    """The buckets of a job, and the relations between its task roles."""

    buckets: list[Bucket] = field(default_factory=list)
    bucket_of: dict[str, int] = field(default_factory=dict)
    priority: dict[str, int] = field(default_factory=dict)
    order: dict[str, int] = field(default_factory=dict)
    together: set[tuple[str, str]] = field(default_factory=set)
    apart: set[tuple[str, str]] = field(default_factory=set)
    largest: int = 0
    on_nodes: dict[str, dict[str, int]] = field(default_factory=dict)
    """Node -> role -> tasks placed in this session."""

    def relate(self, affinity: Groups, anti_affinity: Groups, order: Sequence[str]) -> None:
        for groups, pairs, alone, several in (
            (affinity, self.together, _SELF, _INTER),
            (anti_affinity, self.apart, _SELF_ANTI, _INTER_ANTI),
        ):
            for group in groups:
                if len(group) == 1:
                    pairs.add((group[0], group[0]))
                    self._mark(group[0], alone)
                    continue
                for place, name in enumerate(group):
                    for other in group[:place]:
                        pairs.update(((name, other), (other, name)))
                    self._mark(name, several)
        for place, name in enumerate(order):
            self.order[name] = len(order) - place

    def _mark(self, name: str, priority: int) -> None:
        self.priority[name] = max(priority, self.priority.get(name, 0))

    def build(self, tasks: Sequence[TaskInfo]) -> None:
        """Puts every task with a relation into a bucket."""
        related = [task for task in tasks if role_of(task) in self.priority]
        related.sort(key=cmp_to_key(self._before), reverse=True)
        by_node: dict[str, Bucket] = {}
        for task in related:
            bucket = by_node.get(task.node_name) if task.node_name else self._best_bucket(role_of(task))
            if bucket is None:
                bucket = Bucket(len(self.buckets))
                self.buckets.append(bucket)
                if task.node_name:
                    by_node[task.node_name] = bucket
            self.bucket_of[task.uid] = bucket.index
            bucket.add(role_of(task), task)
            self.largest = max(self.largest, len(bucket.tasks) + bucket.bound)

    def _best_bucket(self, name: str) -> Bucket | None:
        """The bucket a task wants to be in most; none where it wants to be away from all."""
        best, most = None, 0
        for bucket in self.buckets:
            wish = self.wish(name, bucket.names, False)
            if best is None or wish > most or (wish == most and bucket.score < best.score):
                best, most = bucket, wish
        return best if most >= 0 else None

    def wish(self, name: str, others: dict[str, int], only_apart: bool) -> int:
        """How many of some tasks a role wants to be with, less those it wants to be away from."""
        if not name:
            return 0
        total = 0
        for other, count in others.items():
            if not only_apart and (name, other) in self.together:
                total += count
            if (name, other) in self.apart:
                total -= count
        return total

    def compare(self, left: TaskInfo, right: TaskInfo) -> int:
        """Which of two tasks comes first by the order of roles, then by their relations."""
        one, other = role_of(left), role_of(right)
        if one == other:
            return 0
        for ranks in (self.order, self.priority):
            mine, theirs = ranks.get(one, 0), ranks.get(other, 0)
            if mine != theirs:
                return 1 if mine > theirs else -1
        return 0

    def _before(self, left: TaskInfo, right: TaskInfo) -> int:
        """The order that buckets are filled in, reversed."""
        if left.node_name or right.node_name:
            if bool(left.node_name) != bool(right.node_name):
                return -1 if right.node_name else 1
            return int(left.node_name < right.node_name) - int(left.node_name > right.node_name)
        return self.compare(left, right) or int(left.name < right.name) - int(left.name > right.name)

    def find(self, task: TaskInfo) -> Bucket | None:
        index = self.bucket_of.get(task.uid)
        return None if index is None else self.buckets[index]

    def bind(self, task: TaskInfo) -> None:
        """A task was placed on a node."""
        name = role_of(task)
        if name:
            roles = self.on_nodes.setdefault(task.node_name, {})
            roles[name] = roles.get(name, 0) + 1
        bucket = self.find(task)
        if bucket is not None:
            bucket.bind(task)


def read_buckets(job: JobInfo) -> JobBuckets | None:
    """The buckets of a job that has topology annotations; None where it has none, or faulty ones."""
    annotations = job.pod_group.annotations
    if not any(key in annotations for key in (AFFINITY, ANTI_AFFINITY, TASK_ORDER)):
        return None
    roles = {task.role for task in job.index}
    groups = [_groups(annotations.get(key)) for key in (AFFINITY, ANTI_AFFINITY)]
    order = annotations[TASK_ORDER].split(",") if TASK_ORDER in annotations else []
    for group in (*groups[0], *groups[1], order):
        named = [name for name in group if name]
        if len(set(named)) < len(named) or not roles.issuperset(named):
            return None
    buckets = JobBuckets()
    buckets.relate(groups[0], groups[1], order)
    buckets.build(list(job.index))
    return buckets


def role_of(task: TaskInfo) -> str:
    return task.pod.annotations.get(TASK_SPEC, "")


def _groups(text: str | None) -> Groups:
    return [] if text is None else [part.split(",") for part in text.split(";")]


def _weight(request: Resource) -> float:
    return request.cpu + request.memory / _MEBI + sum((request.scalars or {}).values())
