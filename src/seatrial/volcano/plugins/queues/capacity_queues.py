"""Queues as the capacity plugin counts them, flat or in a hierarchy below the queue `root`.

Upstream: plugins/capacity/capacity.go (queueAttr, buildQueueAttrs, buildHierarchicalQueueAttrs).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from seatrial.volcano.cache.job_info import JobInfo
from seatrial.volcano.cache.queue_info import ROOT, QueueInfo
from seatrial.volcano.cache.resource import INFINITY, MAX_INT64, Resource, exceeded_part, larger, share
from seatrial.volcano.cache.task_info import ALLOCATED_STATUSES, TaskStatus
from seatrial.volcano.plugins.queues.inqueue import inqueue_of
from seatrial.volcano.plugins.queues.proportion import bounded_capability, real_capability


@dataclass(slots=True)
class QueueAttributes:
    """What a queue holds, asks for, deserves and may have."""

    name: str
    deserved: Resource
    guarantee: Resource
    capability: Resource
    real_capability: Resource = field(default_factory=Resource)
    share: float = 0.0
    ancestors: list[str] = field(default_factory=list)
    """From the root down to the parent."""
    children: dict[str, "QueueAttributes"] = field(default_factory=dict)
    allocated: Resource = field(default_factory=Resource)
    request: Resource = field(default_factory=Resource)
    elastic: Resource = field(default_factory=Resource)
    inqueue: Resource = field(default_factory=Resource)

    @property
    def is_leaf(self) -> bool:
        return not self.children

    def update_share(self) -> None:
        if self.deserved.is_empty():
            self.share = 1.0
            return
        deserved, allocated = self.deserved, self.allocated
        self.share = max(0.0, *(share(allocated.get(name), deserved.get(name)) for name in deserved.names()))

    def at_depth(self, depth: int) -> str:
        """The ancestor this number of levels above; empty above the root."""
        return self.ancestors[-depth] if 0 < depth <= len(self.ancestors) else ""


@dataclass(slots=True)
class Demand:
    """What one job holds and asks for."""

    allocated: Resource
    request: Resource
    inqueue: Resource
    elastic: Resource

    @classmethod
    def of(cls, job: JobInfo) -> "Demand":
        allocated = Resource()
        for status in ALLOCATED_STATUSES:
            for task in job.index.of(status).values():
                allocated.add(task.resreq)
        request = allocated.clone()
        for task in job.index.of(TaskStatus.PENDING).values():
            request.add(task.resreq)
        return cls(allocated, request, inqueue_of(job) or Resource(), job.elastic)

    def charge(self, queue: QueueAttributes) -> None:
        queue.allocated.add(self.allocated)
        queue.request.add(self.request)
        queue.inqueue.add(self.inqueue)
        queue.elastic.add(self.elastic)


Queues = dict[str, QueueAttributes]


def guaranteed_of(queues: Iterable[QueueInfo]) -> Resource:
    """What is guaranteed to all queues together."""
    guaranteed = Resource()
    for queue in queues:
        if queue.has_guarantee:
            guaranteed.add(queue.guarantee)
    return guaranteed


def flat_queues(jobs: dict[str, JobInfo], queues: dict[str, QueueInfo], total: Resource) -> Queues:
    """The queues that have jobs."""
    guaranteed = guaranteed_of(queues.values())
    found: Queues = {}
    for job in jobs.values():
        if job.queue not in found:
            queue = queues[job.queue]
            guarantee = queue.guarantee.clone() if queue.has_guarantee else Resource()
            attributes = QueueAttributes(queue.name, queue.deserved, guarantee, bounded_capability(queue) or Resource())
            attributes.real_capability = real_capability(total, guaranteed, queue)
            found[job.queue] = attributes
        Demand.of(job).charge(found[job.queue])
    for attributes in found.values():
        attributes.deserved.lower_to(attributes.real_capability, INFINITY)
        attributes.deserved = larger(attributes.deserved, attributes.guarantee)
        attributes.update_share()
    return found


def hierarchical_queues(jobs: dict[str, JobInfo], queues: dict[str, QueueInfo], total: Resource) -> tuple[Queues, str]:
    """All queues in their tree, and why it is unusable where it is."""
    found: Queues = {}
    for queue in queues.values():
        problem = _place(queue, queues, found, ())
        if problem:
            return found, problem
    for job in jobs.values():
        attributes = found[job.queue]
        if attributes.children:
            return found, f"job {job.uid} is in queue {job.queue}, which is not a leaf queue"
        demand = Demand.of(job)
        for name in (job.queue, *attributes.ancestors):
            demand.charge(found[name])
    root = found.get(ROOT)
    if root is None:
        return found, "there is no root queue"
    if root.capability.is_empty():
        root.capability = Resource.infinite()
        for name in total.scalars or ():
            root.capability.set_scalar(name, MAX_INT64)
    root.real_capability = root.capability
    _settle(root)
    for attributes in found.values():
        attributes.update_share()
    return found, ""


def _place(queue: QueueInfo, queues: dict[str, QueueInfo], found: Queues, below: tuple[str, ...]) -> str:
    """Puts a queue and those above it into the tree."""
    if queue.name in found:
        return ""
    guarantee = queue.guarantee.clone() if queue.has_guarantee else Resource()
    own = found[queue.name] = QueueAttributes(queue.name, queue.deserved, guarantee, queue.capability or Resource())
    if queue.name == ROOT:
        return ""
    parent = queue.parent or ROOT
    if parent in below or parent == queue.name:
        return f"cycle detected in queue hierarchy for queue {queue.name}"
    if parent not in queues:
        return f"the queue {queue.name} has invalid parent queue {parent}"
    problem = _place(queues[parent], queues, found, (*below, queue.name))
    if problem:
        return problem
    found[parent].children[queue.name] = own
    own.ancestors = [*found[parent].ancestors, parent]
    return ""


def _settle(parent: QueueAttributes) -> None:
    """Works out what the queues below one deserve and may have, level by level."""
    guaranteed, deserved = Resource(), Resource()
    for child in parent.children.values():
        child.deserved = larger(child.deserved, child.guarantee)
        deserved.add(child.deserved)
        guaranteed.add(child.guarantee)
        own = child.capability
        own.cpu = own.cpu if own.cpu > 0 else parent.capability.cpu
        own.memory = own.memory if own.memory > 0 else parent.capability.memory
        if parent.capability.scalars is not None:
            own.scalars = {**parent.capability.scalars, **(own.scalars or {})}
    if parent.name == ROOT:
        parent.guarantee, parent.deserved = guaranteed, deserved
    for child in parent.children.values():
        real = exceeded_part(parent.real_capability, guaranteed).add(child.guarantee)
        child.real_capability = real.lower_to(child.capability, INFINITY)
    for child in parent.children.values():
        _settle(child)


def common_level(left: QueueAttributes, right: QueueAttributes) -> int:
    """The depth down to which two queues have the same ancestors."""
    level = 0
    for place, (one, other) in enumerate(zip(left.ancestors, right.ancestors, strict=False)):
        if one != other:
            break
        level = place
    return level
