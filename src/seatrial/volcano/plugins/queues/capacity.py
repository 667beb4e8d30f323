"""capacity: queues get what they deserve, within guarantee and capability, flat or in a hierarchy.

Upstream: plugins/capacity/capacity.go.
"""

from collections.abc import Sequence

from seatrial.volcano.cache.job_info import JobInfo
from seatrial.volcano.cache.queue_info import ROOT, QueueInfo
from seatrial.volcano.cache.resource import INFINITY, PODS, Resource, exceeded_part, in_common
from seatrial.volcano.cache.task_info import TaskInfo
from seatrial.volcano.framework.events import NORMAL
from seatrial.volcano.framework.eviction import EvictionContext, EvictionKind
from seatrial.volcano.framework.extension_points import PERMIT, REJECT, Point
from seatrial.volcano.framework.plugin import Plugin
from seatrial.volcano.framework.queue_state import QueueState
from seatrial.volcano.framework.refusals import shortages
from seatrial.volcano.plugins.queues.capacity_queues import (
    QueueAttributes,
    common_level,
    flat_queues,
    guaranteed_of,
    hierarchical_queues,
)
from seatrial.volcano.plugins.queues.inqueue import resource_names
from seatrial.volcano.plugins.queues.proportion import limiting_field
from seatrial.volcano.plugins.queues.queue_metrics import amounts


class Capacity(Plugin):
    """Compares what queues hold with what they deserve and may have."""

    name = "capacity"

    def on_session_open(self) -> None:
        session = self.session
        self._level = max(self.arguments.integer("ancestorReclaimLevel", 0), 0)
        self._is_tree = session.conf.hierarchy_enabled(self.name)
        self.problem = ""
        """Why the hierarchy cannot be used: then nothing is scheduled."""
        total = session.total_resource
        if self._is_tree:
            self.queues, self.problem = hierarchical_queues(session.jobs, session.queues, total)
            if not self.problem:
                self.add(Point.QUEUE_ORDER, self._tree_order)
                self.add(Point.VICTIM_QUEUE_ORDER, self._victim_queue_order)
        else:
            self.queues = flat_queues(session.jobs, session.queues, total)
            self.add(Point.QUEUE_ORDER, self._queue_order)
        self._at_open = {name: (queue.allocated.clone(), queue.inqueue.clone()) for name, queue in self.queues.items()}
        self.add(Point.RECLAIMABLE, self._reclaimable)
        self.add(Point.UNIFIED_EVICTABLE, self._evictable)
        self.add(Point.PREEMPTIVE, self._preemptive)
        self.add(Point.ALLOCATABLE, self._allocatable)
        self.count_jobs(self._enqueueable, self._enqueued)
        session.subscribe(self)

    # -- orders ------------------------------------------------------------------------------------------------

    def _queue_order(self, left: QueueInfo, right: QueueInfo) -> int:
        if left.priority != right.priority:
            return right.priority - left.priority
        return _by_share(self.queues[left.name], self.queues[right.name])

    def _tree_order(self, left: QueueInfo, right: QueueInfo) -> int:
        if left.priority != right.priority:
            return right.priority - left.priority
        one, other = self.queues[left.name], self.queues[right.name]
        if one.is_leaf != other.is_leaf:
            return -1 if one.is_leaf else 1
        if not one.is_leaf:
            return _by_share(one, other)
        below = common_level(one, other) + 1
        return _by_share(self._ancestor_or_self(one, below), self._ancestor_or_self(other, below))

    def _ancestor_or_self(self, queue: QueueAttributes, level: int) -> QueueAttributes:
        return self.queues[queue.ancestors[level]] if level < len(queue.ancestors) else queue

    def _victim_queue_order(self, left: QueueInfo, right: QueueInfo, preemptor: QueueInfo) -> int:
        own = self.queues[preemptor.name]
        return common_level(self.queues[right.name], own) - common_level(self.queues[left.name], own)

    # -- victims -----------------------------------------------------------------------------------------------

    def _reclaimable(self, reclaimer: TaskInfo, candidates: Sequence[TaskInfo]) -> tuple[list[TaskInfo], int]:
        session = self.session
        job = session.jobs.get(reclaimer.job)
        if self.problem or job is None or job.queue not in self.queues:
            return [], REJECT
        own = self.queues[job.queue]
        held: dict[str, Resource] = {}
        victims: list[TaskInfo] = []
        waiting = session.victims_queue(candidates, reclaimer)
        while waiting:
            task = waiting.pop()
            owner = session.jobs.get(task.job)
            queue = self.queues.get(owner.queue) if owner else None
            if queue is None or not [n for n in in_common(task.resreq, reclaimer.resreq) if n != PODS]:
                continue
            allocated = held.setdefault(queue.name, queue.allocated.clone())
            if not _keeps_guarantee(allocated, task, queue) or not self._is_due(reclaimer, own, task, queue, allocated):
                continue
            above = self._ancestors_due(own, task, queue, held)
            if above is None:
                continue
            for amount in (allocated, *above):
                amount.sub(task.resreq)
            victims.append(task)
        return victims, PERMIT

    def _is_due(
        self, reclaimer: TaskInfo, own: QueueAttributes, task: TaskInfo, queue: QueueAttributes, allocated: Resource
    ) -> bool:
        """Whether the queue of a task holds more than it deserves of something the task asks for."""
        if in_common(task.resreq, queue.deserved):
            return bool(allocated.exceeding_relevant(queue.deserved, task.resreq))
        shares_ancestor = self._is_tree and self._level > 0 and self._shares_ancestor(own, queue)
        return not shares_ancestor or bool(in_common(reclaimer.resreq, own.deserved))

    def _shares_ancestor(self, one: QueueAttributes, other: QueueAttributes) -> bool:
        levels = range(1, self._level + 1)
        mine = {one.at_depth(level) for level in levels} - {"", ROOT}
        return any(other.at_depth(level) in mine for level in levels)

    def _ancestors_due(
        self, own: QueueAttributes, task: TaskInfo, queue: QueueAttributes, held: dict[str, Resource]
    ) -> list[Resource] | None:
        """What ancestors of the task's queue hold; None where one does not hold more than it deserves."""
        if not self._is_tree:
            return []
        found: list[Resource] = []
        for level in range(1, self._level + 1):
            name = queue.at_depth(level)
            if not name or name == ROOT or own.at_depth(level) == name:
                continue
            ancestor = self.queues[name]
            allocated = held.setdefault(name, ancestor.allocated.clone())
            found.append(allocated)
            if not in_common(task.resreq, ancestor.deserved):
                continue
            if not allocated.exceeding_relevant(ancestor.deserved, task.resreq):
                return None
        return found

    def _evictable(self, context: EvictionContext, candidates: Sequence[TaskInfo]) -> tuple[list[TaskInfo], int]:
        if context.kind is EvictionKind.GANG_PREEMPT:
            return list(candidates), PERMIT
        if self.problem:
            return [], REJECT
        held: dict[str, Resource] = {}
        victims = []
        for task in candidates:
            queue = self.queues[self.session.jobs[task.job].queue]
            allocated = held.setdefault(queue.name, queue.allocated.clone())
            if not _keeps_guarantee(allocated, task, queue):
                continue
            is_free = not in_common(task.resreq, queue.deserved)
            if is_free or allocated.exceeding_relevant(queue.deserved, task.resreq):
                allocated.sub(task.resreq)
                victims.append(task)
        return victims, PERMIT

    # -- admission ---------------------------------------------------------------------------------------------

    def _preemptive(self, queue: QueueInfo, tasks: Sequence[TaskInfo]) -> bool:
        if self.problem or not queue.is_open:
            return False
        own = self.queues[queue.name]
        wanted = Resource()
        for task in tasks:
            wanted.add(task.resreq)
        after = own.allocated.clone().add(wanted)
        if after.exceeding_of(own.real_capability, wanted):
            return False
        if after.less_equal_partly(own.deserved, wanted):
            return True
        for level in range(1, self._level + 1) if self._is_tree else ():
            ancestor = self.queues.get(own.at_depth(level))
            if ancestor is None or ancestor.name == ROOT:
                continue
            if ancestor.allocated.clone().add(wanted).less_equal_partly(ancestor.deserved, wanted):
                return True
        return False

    def _line(self, queue: str) -> list[QueueAttributes]:
        """A queue and its ancestors, lowest first."""
        own = self.queues[queue]
        return [own, *(self.queues[name] for name in reversed(own.ancestors))]

    def _allocatable(self, queue: QueueInfo, task: TaskInfo) -> bool:
        if self.problem or not queue.is_open or (self._is_tree and not self.queues[queue.name].is_leaf):
            return False
        wanted = task.resreq
        for each in self._line(queue.name):
            exceeding = each.allocated.clone().add(wanted).exceeding_of(each.real_capability, wanted)
            if exceeding:
                if not self.session.has_refused(task.job, "allocatable"):
                    text = f"queue {each.name} has all it may have of {', '.join(exceeding)}"
                    self._refuse(task.job, "allocatable", text, each, (exceeding, wanted, each.allocated))
                return False
        return True

    def _refuse(
        self, job: str, point: str, text: str, queue: QueueAttributes, short: tuple[list[str], Resource, Resource]
    ) -> None:
        """Notes that the limit of a queue is too low for what is asked on top of what is held."""
        names, asked, held = short
        limit = queue.real_capability
        by = limiting_field(self.session.queues[queue.name], names, limit)
        self.session.refuse(job, point, self.name, text, shortages(names, asked, held, limit), queue.name, by)

    def _enqueueable(self, job: JobInfo) -> int:
        session = self.session
        if self.problem:
            session.refuse(job.uid, "jobEnqueueable", self.name, self.problem)
            return REJECT
        if (self._is_tree and not self.queues[job.queue].is_leaf) or not session.queues[job.queue].is_open:
            session.refuse(job.uid, "jobEnqueueable", self.name, f"queue {job.queue} is not an open leaf queue")
            return REJECT
        if job.pod_group.min_resources is None:
            return PERMIT
        for queue in self._line(job.queue):
            wanted = job.min_resources.clone().add(queue.allocated).add(queue.inqueue).sub(queue.elastic)
            exceeding = wanted.exceeding_of(queue.real_capability, job.min_resources)
            if exceeding:
                text = resource_names("queue resource quota insufficient", "insufficient", exceeding)
                session.record(job, NORMAL, "Unschedulable", text)
                held = queue.allocated.clone().add(queue.inqueue).sub(queue.elastic)
                text, short = f"queue {queue.name}: {text}", (exceeding, job.min_resources, held)
                self._refuse(job.uid, "jobEnqueueable", text, queue, short)
                return REJECT
        return PERMIT

    def _enqueued(self, job: JobInfo) -> None:
        if job.queue in self.queues and job.pod_group.min_resources is not None:
            wanted = job.without_gated(job.min_resources)
            for queue in self._line(job.queue):
                queue.inqueue.add(wanted)

    # -- events ------------------------------------------------------------------------------------------------

    def on_allocate(self, task: TaskInfo) -> None:
        line = self._line_of(task)
        for queue in line:
            queue.allocated.add(task.resreq)
        if line:
            line[0].update_share()  # ancestors keep the share they had when the session opened, as upstream

    def on_deallocate(self, task: TaskInfo) -> None:
        line = self._line_of(task)
        for queue in line:
            queue.allocated.sub(task.resreq)
        if line:
            line[0].update_share()

    def _line_of(self, task: TaskInfo) -> list[QueueAttributes]:
        job = self.session.jobs.get(task.job)
        return self._line(job.queue) if job is not None and job.queue in self.queues else []

    def queue_metrics(self) -> dict[str, dict[str, float]]:
        if self.problem:
            return {}
        return {name: self._metrics_of(queue) for name, queue in self.session.queues.items()}

    def _metrics_of(self, queue: QueueInfo) -> dict[str, float]:
        own = self.queues.get(queue.name)
        if own is None:
            total = self.session.total_resource
            real = exceeded_part(total, guaranteed_of(self.session.queues.values())).add(queue.guarantee)
            none = Resource()
            metrics = amounts(deserved=queue.deserved, allocated=none, request=none, inqueue=none)
            capability = queue.capability
            if capability is not None:
                metrics |= amounts(capacity=capability)
                real.lower_to(capability, INFINITY)
            return metrics | amounts(real_capacity=real)
        allocated, inqueue = self._at_open[queue.name]
        return {"share": own.share} | amounts(
            deserved=own.deserved,
            allocated=own.allocated if own.is_leaf else allocated,
            request=own.request,
            inqueue=inqueue,
            capacity=own.capability,
            real_capacity=own.real_capability,
        )

    def queue_states(self) -> dict[str, QueueState]:
        """As proportion's; a queue is overused that others may reclaim from: it holds more than it deserves."""
        return {
            name: QueueState(
                own.ancestors[-1] if own.ancestors else "",
                self.session.queues[name].weight,
                own.deserved,
                own.allocated,
                own.guarantee,
                own.real_capability,
                own.inqueue,
                own.share,
                bool(own.allocated.exceeding_relevant(own.deserved, own.allocated)),
            )
            for name, own in self.queues.items()
        }


def _by_share(left: QueueAttributes, right: QueueAttributes) -> int:
    """The smaller share first; among equals a queue that deserves something."""
    if left.share == right.share:
        return int(left.deserved.is_empty()) - int(right.deserved.is_empty())
    return -1 if left.share < right.share else 1


def _keeps_guarantee(allocated: Resource, task: TaskInfo, queue: QueueAttributes) -> bool:
    return queue.guarantee.less_equal(allocated.clone().sub(task.resreq))
