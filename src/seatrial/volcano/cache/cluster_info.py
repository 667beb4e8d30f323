"""A snapshot of the cluster for one session. Upstream: pkg/scheduler/cache (Snapshot), api (ClusterInfo)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from seatrial.model.documents import Document
from seatrial.scheduler.cache import PodReader
from seatrial.scheduler.framework import EmptyLister, ObjectLister
from seatrial.volcano.cache.csi_volumes import volumes_of
from seatrial.volcano.cache.hyper_node_info import HyperNodes
from seatrial.volcano.cache.job_info import JobInfo, PodGroup
from seatrial.volcano.cache.node_columns import NodeColumns
from seatrial.volcano.cache.node_info import NodeFacts, NodeInfo
from seatrial.volcano.cache.numa_info import Numatopologies
from seatrial.volcano.cache.queue_info import QueueInfo
from seatrial.volcano.cache.resource import Resource
from seatrial.volcano.cache.task_info import TERMINATED_STATUSES, PodScheduled, TaskInfo


@dataclass(slots=True)
class ClusterInfo:
    """Everything a session works on; it changes jobs and nodes as it decides."""

    nodes: list[NodeInfo]
    columns: NodeColumns
    jobs: dict[str, JobInfo]
    """By uid, in the order of the uids."""
    queues: dict[str, QueueInfo]
    hyper_nodes: HyperNodes
    objects: ObjectLister
    now: int
    numatopologies: Numatopologies = field(default_factory=Numatopologies)


def take_snapshot(
    nodes: Iterable[Document | NodeFacts],
    tasks: Iterable[TaskInfo],
    pod_groups: Iterable[Document],
    queues: Iterable[Document],
    priority_classes: Iterable[Document] = (),
    hyper_nodes: Iterable[Document] = (),
    objects: ObjectLister | None = None,
    now: int = 0,
    numatopologies: Numatopologies | None = None,
) -> ClusterInfo:
    """A snapshot of documents; nodes keep their order."""
    priorities = Priorities.read(priority_classes)
    found = [JobInfo(group, priorities.of(group)) for group in map(PodGroup.read, pod_groups)]
    jobs = {job.uid: job for job in sorted(found, key=lambda job: job.uid)}
    listed = list(tasks)
    for task in listed:
        job = jobs.get(task.job)
        if job is not None:
            job.add_task(task)
    return assembled(nodes, listed, jobs, queues, hyper_nodes, objects, now, numatopologies)


def assembled(
    nodes: Iterable[Document | NodeFacts],
    tasks: Iterable[TaskInfo],
    jobs: Mapping[str, JobInfo],
    queues: Iterable[Document],
    hyper_nodes: Iterable[Document] = (),
    objects: ObjectLister | None = None,
    now: int = 0,
    numatopologies: Numatopologies | None = None,
) -> ClusterInfo:
    """A snapshot of jobs with their tasks, in the order of the uids, those aside whose queue does not exist."""
    others = objects or EmptyLister()
    facts = [node if isinstance(node, NodeFacts) else _facts(node, others) for node in nodes]
    infos = [NodeInfo(entry, row) for row, entry in enumerate(facts)]
    columns = NodeColumns(node.allocatable for node in infos)
    for node in infos:
        node.columns = columns
    known = {node.name: node for node in infos}
    listed = {queue.name: queue for queue in sorted(map(QueueInfo, queues), key=lambda queue: queue.name)}
    for task in tasks:
        home = known.get(task.node_name)
        if home is not None and task.status not in TERMINATED_STATUSES:
            home.add_task(task)
    del columns.log[:]
    queued = {uid: job for uid, job in jobs.items() if job.queue in listed}
    tree = HyperNodes(hyper_nodes, infos)
    return ClusterInfo(infos, columns, queued, listed, tree, others, now, numatopologies or Numatopologies())


def _facts(node: Document, objects: ObjectLister) -> NodeFacts:
    return NodeFacts.read(node, objects.get("CSINode", node["metadata"]["name"]))


def read_tasks(pods: Sequence[Document], reader: PodReader, objects: ObjectLister | None = None) -> list[TaskInfo]:
    """The pods as tasks."""
    objects = objects or EmptyLister()
    read = [(reader.read(document), document) for document in pods]
    return [TaskInfo(pod, document, _pod_scheduled(document), volumes_of(pod, objects)) for pod, document in read]


def _pod_scheduled(document: Document) -> PodScheduled | None:
    for condition in (document.get("status") or {}).get("conditions") or ():
        if condition.get("type") == "PodScheduled":
            return condition.get("status") or "", condition.get("reason") or "", condition.get("message") or ""
    return None


@dataclass(frozen=True, slots=True)
class Priorities:
    """The values of PriorityClasses."""

    values: Mapping[str, int]
    default: int = 0

    @classmethod
    def read(cls, priority_classes: Iterable[Document]) -> "Priorities":
        values: dict[str, int] = {}
        default = 0
        for entry in priority_classes:
            values[entry["metadata"]["name"]] = int(entry.get("value") or 0)
            if entry.get("globalDefault"):
                default = int(entry.get("value") or 0)
        return cls(values, default)

    def of(self, group: PodGroup) -> int:
        """The priority of a PodGroup."""
        return self.values.get(group.spec.get("priorityClassName") or "", self.default)


def total_resource(nodes: Iterable[NodeInfo]) -> Resource:
    """What all nodes offer together."""
    total = Resource()
    for node in nodes:
        total.add(node.allocatable)
    return total
