"""How the answers of plugins become one: order, vote and intersection over the tiers.

Each method is upstream's rule for one extension point: which plugins are asked, when asking stops, and what no answer
means. Upstream: pkg/scheduler/framework/session_plugins.go.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from seatrial.volcano.cache.job_info import JobInfo
from seatrial.volcano.cache.queue_info import QueueInfo
from seatrial.volcano.cache.sub_job_info import SubJobInfo
from seatrial.volcano.cache.task_info import TaskInfo, comes_before
from seatrial.volcano.config.scheduler_conf import SchedulerConf
from seatrial.volcano.framework.extension_points import ABSTAIN, Point
from seatrial.volcano.framework.priority_queue import ItemQueue, KeyedQueue, KeyOrder, PriorityQueue

Fn = Any
"""A plugin's function; for PREDICATE an object with two."""
Named = tuple[str, Fn]


@dataclass(frozen=True, slots=True)
class ValidateResult:
    """Why a job is not worth scheduling."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """Which plugin said no to a job, at which point, and why in words."""

    point: str
    plugin: str
    text: str


class SessionPlugins:
    """The functions plugins registered, and the rules by which they are asked."""

    def __init__(self, conf: SchedulerConf) -> None:
        self.conf = conf
        self.jobs: dict[str, JobInfo] = {}
        self.queues: dict[str, QueueInfo] = {}
        self.refusals: dict[str, Refusal] = {}
        """The last no a job was given, by job uid."""
        self._registered: dict[Point, dict[str, list[Fn]]] = {}
        self._tiers: dict[Point, list[list[Named]]] = {}
        self._flat: dict[Point, list[Named]] = {}

    def add(self, point: Point, plugin: str, fn: Fn) -> None:
        """Registers a plugin's function for an extension point; a later one takes the place of an earlier."""
        fns = self._registered.setdefault(point, {})
        fns[plugin] = [*fns.get(plugin, ()), fn] if point is Point.VICTIM_TASKS else [fn]
        self._tiers.pop(point, None)
        self._flat.pop(point, None)

    def forget(self) -> None:
        """Drops all registered functions."""
        self._registered.clear()
        self._tiers.clear()
        self._flat.clear()

    def tiers(self, point: Point) -> list[list[Named]]:
        """The enabled functions of a point, tier by tier."""
        listed = self._tiers.get(point)
        if listed is None:
            fns = self._registered.get(point, {})
            listed = self._tiers[point] = [
                [
                    (option.name, fn)
                    for option in tier
                    if option.name in fns and option.enables(point.flag)
                    for fn in fns[option.name]
                ]
                for tier in self.conf.tiers
            ]
        return listed

    def fns(self, point: Point) -> list[Named]:
        """The enabled functions of a point in order."""
        listed = self._flat.get(point)
        if listed is None:
            listed = self._flat[point] = [named for tier in self.tiers(point) for named in tier]
        return listed

    # -- orders ------------------------------------------------------------------------------------------------

    def _compare(self, point: Point, left: Any, right: Any) -> int:
        """The first comparison that tells two items apart."""
        for _, fn in self.fns(point):
            answer: int = fn(left, right)
            if answer:
                return answer
        return 0

    def compare_jobs(self, left: JobInfo, right: JobInfo) -> int:
        return self._compare(Point.JOB_ORDER, left, right)

    def job_order(self, left: JobInfo, right: JobInfo) -> bool:
        """Whether the left job goes first: by plugins, then age, then uid."""
        answer = self._compare(Point.JOB_ORDER, left, right)
        if answer:
            return answer < 0
        return left.uid < right.uid if left.created == right.created else left.created < right.created

    def job_queue(self) -> ItemQueue[JobInfo]:
        """Jobs in their order, for actions in which only the job just taken changes its place."""
        orders = [fn for _, fn in self.fns(Point.JOB_ORDER)]
        if not all(isinstance(order, KeyOrder) for order in orders):
            return PriorityQueue(self.job_order)
        keys = [order.key for order in orders]
        return KeyedQueue(lambda job: (*[key(job) for key in keys], job.created, job.uid))

    def queue_order(self, left: QueueInfo, right: QueueInfo) -> bool:
        """Whether the left queue goes first: by plugins, then age, then name."""
        answer = self._compare(Point.QUEUE_ORDER, left, right)
        if answer:
            return answer < 0
        return left.name < right.name if left.created == right.created else left.created < right.created

    def victim_queue_order(self, left: QueueInfo, right: QueueInfo, preemptor: QueueInfo) -> bool:
        """Whether tasks of the left queue are evicted first."""
        for _, fn in self.fns(Point.VICTIM_QUEUE_ORDER):
            answer = fn(left, right, preemptor)
            if answer:
                return bool(answer < 0)
        return not self.queue_order(left, right)

    def task_order(self, left: TaskInfo, right: TaskInfo) -> bool:
        """Whether the left task goes first: by plugins, then its index, age and uid."""
        answer = self._compare(Point.TASK_ORDER, left, right)
        return answer < 0 if answer else comes_before(left, right)

    def sub_job_order(self, left: SubJobInfo, right: SubJobInfo) -> bool:
        answer = self._compare(Point.SUB_JOB_ORDER, left, right)
        if answer:
            return answer < 0
        return left.uid < right.uid if left.match_index == right.match_index else left.match_index < right.match_index

    def victims_queue(self, victims: Sequence[TaskInfo], preemptor: TaskInfo) -> PriorityQueue[TaskInfo]:
        """The victims in the order they are evicted in (BuildVictimsPriorityQueue)."""

        def by_job(left: TaskInfo, right: TaskInfo) -> bool:
            answer = self.compare_jobs(self.jobs[left.job], self.jobs[right.job])
            return answer > 0 if answer else not self.task_order(left, right)

        def less(left: TaskInfo, right: TaskInfo) -> bool:
            if left.job == right.job:
                return not self.task_order(left, right)
            one, other, wanting = (self.jobs.get(task.job) for task in (left, right, preemptor))
            if one is None or other is None:
                return not self.task_order(left, right) if one is other else one is None
            if wanting is not None and one.queue != other.queue:
                queues = self.queues
                return self.victim_queue_order(queues[one.queue], queues[other.queue], queues[wanting.queue])
            return by_job(left, right)

        return PriorityQueue(less, victims)

    # -- victims -----------------------------------------------------------------------------------------------

    def _victims(self, point: Point, subject: Any, candidates: Sequence[TaskInfo]) -> list[TaskInfo]:
        """What all plugins of the first deciding tier agree on; a plugin that offers none ends its tier."""
        victims: list[TaskInfo] | None = None
        for tier in self.tiers(point):
            for _, fn in tier:
                offered, vote = fn(subject, candidates)
                if vote == ABSTAIN:
                    continue
                if not offered:
                    victims = None
                    break
                if victims is None:
                    victims = offered
                else:
                    uids = {task.uid for task in offered}
                    victims = [task for task in victims if task.uid in uids] or None
            if victims is not None:
                return victims
        return []

    def preemptable(self, preemptor: TaskInfo, preemptees: Sequence[TaskInfo]) -> list[TaskInfo]:
        return self._victims(Point.PREEMPTABLE, preemptor, preemptees)

    def reclaimable(self, reclaimer: TaskInfo, reclaimees: Sequence[TaskInfo]) -> list[TaskInfo]:
        return self._victims(Point.RECLAIMABLE, reclaimer, reclaimees)

    def unified_evictable(self, context: Any, candidates: Sequence[TaskInfo]) -> list[TaskInfo]:
        return self._victims(Point.UNIFIED_EVICTABLE, context, candidates)

    def victim_tasks(self, tasks: Sequence[TaskInfo]) -> list[TaskInfo]:
        """All that the plugins of the first tier with any want evicted."""
        for tier in self.tiers(Point.VICTIM_TASKS):
            found = {task.uid: task for _, fn in tier for task in fn(tasks)}
            if found:
                return [found[uid] for uid in sorted(found)]
        return []

    # -- queues ------------------------------------------------------------------------------------------------

    def overused(self, queue: QueueInfo) -> str:
        """The plugin that says that the queue has all it may have; empty where none does."""
        return next((name for name, fn in self.fns(Point.OVERUSED) if fn(queue)), "")

    def preemptive(self, queue: QueueInfo, candidates: Sequence[TaskInfo]) -> bool:
        """Whether the queue may reclaim from others for these tasks."""
        return all(fn(queue, candidates) for _, fn in self.fns(Point.PREEMPTIVE))

    def allocatable(self, queue: QueueInfo, task: TaskInfo) -> bool:
        """Whether the queue may be given what the task asks for."""
        for name, fn in self.fns(Point.ALLOCATABLE):
            if not fn(queue, task):
                text = f"queue {queue.name} may not be given {task.resreq} more"
                self.refusals[task.job] = Refusal("allocatable", name, text)
                return False
        return True

    # -- jobs --------------------------------------------------------------------------------------------------

    def job_ready(self, job: JobInfo) -> bool:
        return all(fn(job) for _, fn in self.fns(Point.JOB_READY))

    def job_pipelined(self, job: JobInfo) -> bool:
        return self._vote(Point.JOB_PIPELINED, job) == ""

    def sub_job_ready(self, job: JobInfo, sub_job: SubJobInfo) -> bool:
        if not job.policies:
            return self.job_ready(job)
        return all(fn(sub_job) for _, fn in self.fns(Point.SUB_JOB_READY))

    def sub_job_pipelined(self, job: JobInfo, sub_job: SubJobInfo) -> bool:
        if not job.policies:
            return self.job_pipelined(job)
        return self._vote(Point.SUB_JOB_PIPELINED, sub_job) == ""

    def job_starving(self, job: JobInfo) -> bool:
        """Whether all plugins of the first tier that has an opinion say that the job needs more."""
        for tier in self.tiers(Point.JOB_STARVING):
            if tier:
                return all(fn(job) for _, fn in tier)
        return False

    def job_valid(self, job: JobInfo) -> ValidateResult | None:
        """Why a job is not worth scheduling; None where it is."""
        for name, fn in self.fns(Point.JOB_VALID):
            result: ValidateResult | None = fn(job)
            if result is not None:
                self.refusals[job.uid] = Refusal("jobValid", name, result.message)
                return result
        return None

    def job_enqueueable(self, job: JobInfo) -> bool:
        """Whether a job is let in; the plugin that does not let it in says why."""
        self.refusals.pop(job.uid, None)
        refusing = self._vote(Point.JOB_ENQUEUEABLE, job)
        if refusing and job.uid not in self.refusals:
            self.refuse(job, "jobEnqueueable", refusing, f"queue {job.queue} takes no more jobs")
        return not refusing

    def refuse(self, job: JobInfo, point: str, plugin: str, text: str) -> None:
        """Notes which plugin said no to a job, and why."""
        self.refusals[job.uid] = Refusal(point, plugin, text)

    def job_enqueued(self, job: JobInfo) -> None:
        for _, fn in self.fns(Point.JOB_ENQUEUED):
            fn(job)

    def _vote(self, point: Point, subject: Any) -> str:
        """The plugin that rejects; empty where a tier permits, or none has an opinion."""
        for tier in self.tiers(point):
            permitted = False
            for name, fn in tier:
                vote = fn(subject)
                if vote < 0:
                    return name
                permitted |= vote > 0
            if permitted:
                return ""
        return ""
