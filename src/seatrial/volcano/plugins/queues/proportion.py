"""proportion: queues share the cluster by weight, within what they ask for. Upstream: plugins/proportion."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from seatrial.volcano.cache.job_info import JobInfo
from seatrial.volcano.cache.queue_info import QueueInfo
from seatrial.volcano.cache.resource import INFINITY, MAX_FLOAT, ZERO, Resource, exceeded_part, larger, share
from seatrial.volcano.cache.task_info import ALLOCATED_STATUSES, TaskInfo, TaskStatus
from seatrial.volcano.framework.events import NORMAL
from seatrial.volcano.framework.extension_points import PERMIT, REJECT, Point
from seatrial.volcano.framework.plugin import Plugin
from seatrial.volcano.framework.queue_state import QueueState
from seatrial.volcano.framework.refusals import shortages
from seatrial.volcano.plugins.queues.inqueue import inqueue_of, resource_names
from seatrial.volcano.plugins.queues.queue_metrics import amounts


@dataclass(slots=True)
class QueueAttributes:
    """What a queue holds, asks for and deserves."""

    name: str
    weight: int
    guarantee: Resource
    real_capability: Resource
    share: float = 0.0
    deserved: Resource = field(default_factory=Resource)
    allocated: Resource = field(default_factory=Resource)
    request: Resource = field(default_factory=Resource)
    elastic: Resource = field(default_factory=Resource)
    inqueue: Resource = field(default_factory=Resource)

    def update_share(self) -> None:
        deserved, allocated = self.deserved, self.allocated
        self.share = max([share(allocated.get(n), deserved.get(n)) for n in deserved.names()], default=0.0)
        self.share = max(self.share, 0.0)

    def count(self, job: JobInfo) -> None:
        """Adds what a job of the queue holds and asks for."""
        for status in ALLOCATED_STATUSES:
            for task in job.index.of(status).values():
                self.allocated.add(task.resreq)
                self.request.add(task.resreq)
        for task in job.index.of(TaskStatus.PENDING).values():
            self.request.add(task.resreq)
        inqueue = inqueue_of(job)
        if inqueue is not None:
            self.inqueue.add(inqueue)
        self.elastic.add(job.elastic)


def bounded_capability(queue: QueueInfo) -> Resource | None:
    """A queue's capability; cpu and memory it does not name are unbounded."""
    capability = queue.capability
    if capability is not None:
        capability.cpu = capability.cpu if capability.cpu > 0 else MAX_FLOAT
        capability.memory = capability.memory if capability.memory > 0 else MAX_FLOAT
    return capability


def real_capability(total: Resource, guaranteed: Resource, queue: QueueInfo) -> Resource:
    """The most a queue can get: what is not guaranteed to others, within its capability."""
    real = exceeded_part(total, guaranteed).add(queue.guarantee)
    capability = bounded_capability(queue)
    return real if capability is None else real.lower_to(capability, INFINITY)


def limiting_field(queue: QueueInfo, names: Sequence[str], limit: Resource) -> str:
    """`capability` where that of the queue sets its limit; empty where what others leave of the cluster does."""
    capability = queue.capability or Resource()
    return "capability" if any(limit.get(name) == capability.get(name) for name in names) else ""


class Proportion(Plugin):
    """Works out what each queue deserves when the session opens, and follows what it holds."""

    name = "proportion"

    def on_session_open(self) -> None:
        session = self.session
        guaranteed = Resource()
        for queue in session.queues.values():
            if queue.has_guarantee:
                guaranteed.add(queue.guarantee)
        self._overused_queues: dict[str, bool] = {}
        self.queues: dict[str, QueueAttributes] = {}
        for job in session.jobs.values():
            if job.queue not in self.queues:
                queue = session.queues[job.queue]
                real = real_capability(session.total_resource, guaranteed, queue)
                guarantee = queue.guarantee.clone() if queue.has_guarantee else Resource()
                self.queues[job.queue] = QueueAttributes(queue.name, queue.weight, guarantee, real)
            self.queues[job.queue].count(job)
        self._inqueue_at_open = {name: attributes.inqueue.clone() for name, attributes in self.queues.items()}
        self._share_out(session.total_resource.clone())
        self.add(Point.QUEUE_ORDER, self._queue_order)
        self.add(Point.RECLAIMABLE, self._reclaimable)
        self.add(Point.OVERUSED, self._overused)
        self.add(Point.ALLOCATABLE, self._allocatable)
        self.add(Point.PREEMPTIVE, self._may_have)
        self.count_jobs(self._enqueueable, self._enqueued)
        session.subscribe(self)

    def _share_out(self, remaining: Resource) -> None:
        """Gives queues their part by weight, round by round, until all have enough or nothing is left."""
        met: set[str] = set()
        while True:
            unmet = [attributes for name, attributes in self.queues.items() if name not in met]
            weights = sum(attributes.weight for attributes in unmet)
            if not weights:
                return
            before = remaining.clone()
            increased, decreased = Resource(), Resource()
            for attributes in unmet:
                old = attributes.deserved.clone()
                part = remaining.clone().multiply(float(attributes.weight) / float(weights))
                deserved = attributes.deserved.add(part).lower_to(attributes.real_capability, INFINITY)
                deserved = larger(deserved.lower_to(attributes.request, ZERO), attributes.guarantee)
                attributes.deserved = deserved
                attributes.update_share()
                if attributes.request.less_equal(deserved) or deserved.same(old):
                    met.add(attributes.name)
                more, less = deserved.diff(old)
                increased.add(more)
                decreased.add(less)
            remaining = exceeded_part(remaining.clone().add(decreased), increased)
            if remaining.is_empty() or remaining.same(before):
                return

    def _queue_order(self, left: QueueInfo, right: QueueInfo) -> int:
        if left.priority != right.priority:
            return right.priority - left.priority
        one, other = self.queues[left.name].share, self.queues[right.name].share
        return int(one > other) - int(one < other)

    def _reclaimable(self, _: TaskInfo, candidates: Sequence[TaskInfo]) -> tuple[list[TaskInfo], int]:
        """Tasks of queues that hold more than they deserve."""
        held: dict[str, Resource] = {}
        victims = []
        for task in candidates:
            job = self.session.jobs.get(task.job)
            attributes = self.queues.get(job.queue) if job else None
            if attributes is None:
                continue
            allocated = held.setdefault(attributes.name, attributes.allocated.clone())
            if not allocated.less_equal(attributes.deserved):
                allocated.sub(task.resreq)
                victims.append(task)
        return victims, PERMIT

    def _overused(self, queue: QueueInfo) -> bool:
        attributes = self.queues[queue.name]
        self._overused_queues[queue.name] = attributes.deserved.less_equal(attributes.allocated)
        return self._overused_queues[queue.name]

    def _allocatable(self, queue: QueueInfo, task: TaskInfo) -> bool:
        if self._may_have(queue, [task]):
            return True
        session, attributes = self.session, self.queues[queue.name]
        if queue.is_open and not session.has_refused(task.job, "allocatable"):
            after = attributes.allocated.clone().add(task.resreq)
            exceeding = after.exceeding_of(attributes.deserved, task.resreq)
            text = f"queue {queue.name} has all it deserves of {', '.join(exceeding)}"
            short = shortages(exceeding, task.resreq, attributes.allocated, attributes.deserved)
            session.refuse(task.job, "allocatable", self.name, text, short, queue.name, "deserved")
        return False

    def _may_have(self, queue: QueueInfo, tasks: Sequence[TaskInfo]) -> bool:
        if not queue.is_open:
            return False
        attributes = self.queues[queue.name]
        if len(tasks) == 1:
            return attributes.allocated.has_room(tasks[0].resreq, attributes.deserved)
        wanted = Resource()
        for task in tasks:
            wanted.add(task.resreq)
        return attributes.allocated.has_room(wanted, attributes.deserved)

    def _enqueueable(self, job: JobInfo) -> int:
        session = self.session
        attributes = self.queues[job.queue]
        if not session.queues[job.queue].is_open:
            session.refuse(job.uid, "jobEnqueueable", self.name, f"queue {job.queue} is not open")
            return REJECT
        if job.pod_group.min_resources is None:
            return PERMIT
        held = attributes.allocated.clone().add(attributes.inqueue).sub(attributes.elastic)
        wanted = job.min_resources.clone().add(attributes.allocated).add(attributes.inqueue).sub(attributes.elastic)
        exceeding = wanted.exceeding_of(attributes.real_capability, job.min_resources)
        if not exceeding:
            return PERMIT
        text = resource_names("queue resource quota insufficient", "insufficient", exceeding)
        session.record(job, NORMAL, "Unschedulable", text)
        limit = attributes.real_capability
        by = limiting_field(session.queues[job.queue], exceeding, limit)
        short = shortages(exceeding, job.min_resources, held, limit)
        session.refuse(job.uid, "jobEnqueueable", self.name, text, short, job.queue, by)
        return REJECT

    def _enqueued(self, job: JobInfo) -> None:
        attributes = self.queues.get(job.queue)
        if attributes is not None and job.pod_group.min_resources is not None:
            attributes.inqueue.add(job.without_gated(job.min_resources))

    def on_allocate(self, task: TaskInfo) -> None:
        attributes = self._attributes_of(task)
        if attributes is not None:
            attributes.allocated.add(task.resreq)
            attributes.update_share()

    def on_deallocate(self, task: TaskInfo) -> None:
        attributes = self._attributes_of(task)
        if attributes is not None:
            attributes.allocated.sub(task.resreq)
            attributes.update_share()

    def _attributes_of(self, task: TaskInfo) -> QueueAttributes | None:
        job = self.session.jobs.get(task.job)
        return self.queues.get(job.queue) if job else None

    def queue_metrics(self) -> dict[str, dict[str, float]]:
        found: dict[str, dict[str, float]] = {}
        for name in self.session.queues:
            attributes = self.queues.get(name)
            metrics = found[name] = amounts(allocated=Resource(), request=Resource(), inqueue=Resource())
            if attributes is None:
                continue
            metrics |= amounts(
                allocated=attributes.allocated,
                request=attributes.request,
                inqueue=self._inqueue_at_open[name],
                deserved=attributes.deserved,
            )
            metrics |= {"share": attributes.share, "weight": float(attributes.weight)}
            if name in self._overused_queues:
                metrics["overused"] = float(self._overused_queues[name])
        return found

    def queue_states(self) -> dict[str, QueueState]:
        return {
            name: QueueState(
                self.session.queues[name].parent,
                own.weight,
                own.deserved,
                own.allocated,
                own.guarantee,
                own.real_capability,
                own.inqueue,
                own.share,
                own.deserved.less_equal(own.allocated),
            )
            for name, own in self.queues.items()
        }
