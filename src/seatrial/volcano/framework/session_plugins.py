"""How the answers of plugins become one: order, vote and intersection over the tiers.

Each method is upstream's rule for one extension point: which plugins are asked, when asking stops, and what no answer
means. Upstream: pkg/scheduler/framework/session_plugins.go.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from seatrial.volcano.cache.job_info import JobInfo
from seatrial.volcano.cache.queue_info import QueueInfo
from seatrial.volcano.cache.resource_words import listed
from seatrial.volcano.cache.sub_job_info import SubJobInfo
from seatrial.volcano.cache.task_info import TaskInfo, comes_before
from seatrial.volcano.config.scheduler_conf import SchedulerConf
from seatrial.volcano.framework.eviction import EvictionContext
from seatrial.volcano.framework.extension_points import ABSTAIN, Point
from seatrial.volcano.framework.priority_queue import ItemQueue, KeyedQueue, KeyOrder, PriorityQueue
from seatrial.volcano.framework.refusals import EvictionTrial, Refusal, Said, Shortage

Fn = Any
"""A plugin's function; for PREDICATE an object with two."""
Named = tuple[str, Fn]
ASK_OUTSIDE = ("extender",)
"""Plugins whose answers come from other programs, which are asked no more often than upstream does."""


@dataclass(frozen=True, slots=True)
class ValidateResult:
    """Why a job is not worth scheduling."""

    reason: str
    message: str


class SessionPlugins:
    """The functions plugins registered, and the rules by which they are asked."""

    def __init__(self, conf: SchedulerConf) -> None:
        self.conf = conf
        self.jobs: dict[str, JobInfo] = {}
        self.queues: dict[str, QueueInfo] = {}
        self.action = ""
        """The action that is being run."""
        self.said: dict[str, Said] = {}
        """What actions and plugins said about jobs, by job uid."""
        self.keys_jobs = True
        self.asks_all = False
        """Whether plugins after one that refuses a job are asked as well, for its explanation."""
        self.is_asking = False
        """Whether plugins are asked for an explanation only: no event is recorded."""
        self._others: dict[tuple[str, str, int], list[Refusal]] = {}
        self._registered: dict[Point, dict[str, list[Fn]]] = {}
        self._tiers: dict[Point, list[list[Named]]] = {}
        self._flat: dict[Point, list[Named]] = {}

    def add(self, point: Point, plugin: str, fn: Fn) -> None:
        """Registers a plugin's function for an extension point; a later one takes the place of an earlier."""
        fns = self._registered.setdefault(point, {})
        fns[plugin] = [*fns.get(plugin, ()), fn] if point is Point.VICTIM_TASKS else [fn]
        self._tiers.pop(point, None)
        self._flat.pop(point, None)

    # -- what was said -----------------------------------------------------------------------------------------

    def said_of(self, uid: str) -> Said:
        found = self.said.get(uid)
        if found is None:
            found = self.said[uid] = Said()
        return found

    def refuse(
        self,
        job: str,
        point: str,
        plugin: str,
        text: str,
        shortages: tuple[Shortage, ...] = (),
        queue: str = "",
        limited_by: str = "",
    ) -> None:
        """Notes which plugin said no to a job in the current action, and why."""
        refusal = Refusal(point, plugin, text, queue, shortages, limited_by)
        self.said_of(job).refusals[self.action, point, plugin] = refusal

    def has_refused(self, job: str, point: str) -> bool:
        """Whether a no at this point of the current action is noted."""
        said = self.said.get(job)
        return said is not None and any(key[:2] == (self.action, point) for key in said.refusals)

    def trial_of(self, job: str) -> EvictionTrial:
        """How the current action tries to make room for a job."""
        trials = self.said_of(job).trials
        found = trials.get(self.action)
        if found is None:
            found = trials[self.action] = EvictionTrial()
        return found

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
        if not self.keys_jobs or not all(isinstance(order, KeyOrder) for order in orders):
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

    def task_queue(self, tasks: Sequence[TaskInfo]) -> PriorityQueue[TaskInfo] | KeyedQueue[TaskInfo]:
        """Tasks in their order, for actions that take them out and put none in.

        Indices are compared where both tasks have one, so there is a key where all have one, or none has.
        """
        orders = [fn for _, fn in self.fns(Point.TASK_ORDER)]
        have_index = {task.index is not None for task in tasks}
        if not self.keys_jobs or len(have_index) > 1 or not all(isinstance(order, KeyOrder) for order in orders):
            return PriorityQueue(self.task_order, tasks)
        keys = [order.key for order in orders]
        return KeyedQueue(lambda t: (*[key(t) for key in keys], t.index or 0, t.pod.created, t.uid), tasks)

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
        trial = self._note_candidates(subject, candidates)
        for tier in self.tiers(point):
            for name, fn in tier:
                offered, vote = fn(subject, candidates)
                if vote == ABSTAIN:
                    continue
                if not offered:
                    victims = None
                    trial.refused_by[name] = trial.refused_by.get(name, 0) + 1
                    break
                if victims is None:
                    victims = offered
                else:
                    uids = {task.uid for task in offered}
                    victims = [task for task in victims if task.uid in uids] or None
            if victims is not None:
                return victims
        return []

    def _note_candidates(self, subject: Any, candidates: Sequence[TaskInfo]) -> EvictionTrial:
        trial = self.trial_of(subject.job.uid if isinstance(subject, EvictionContext) else subject.job)
        trial.nodes += 1
        for task in candidates:
            trial.candidates[task.job] = trial.candidates.get(task.job, 0) + 1
        return trial

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
                if not self.has_refused(task.job, "allocatable"):
                    text = f"queue {queue.name} may not be given {listed(task.resreq)} more"
                    self.refuse(task.job, "allocatable", name, text)
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
                self.refuse(job.uid, "jobValid", name, result.message)
                return result
        return None

    def job_enqueueable(self, job: JobInfo) -> bool:
        """Whether a job is let in; the plugin that does not let it in says why."""
        refusing = self._vote(Point.JOB_ENQUEUEABLE, job)
        if refusing and not self.has_refused(job.uid, "jobEnqueueable"):
            self.refuse(job.uid, "jobEnqueueable", refusing, f"queue {job.queue} takes no more jobs")
        if refusing and self.asks_all:
            self._ask_others(job, refusing)
        return not refusing

    def _ask_others(self, job: JobInfo, refusing: str) -> None:
        """Notes which other plugins would not let a refused job in either; no decision depends on it.

        Their answers are the same for jobs that ask for the same until the next job is let in.
        """
        key = job.queue, job.namespace, id(job.min_resources)
        known = self._others.get(key)
        if known is None:
            self.is_asking = True
            for tier in self.tiers(Point.JOB_ENQUEUEABLE):
                votes = [fn(job) for name, fn in tier if name not in (refusing, *ASK_OUTSIDE)]
                if any(vote > 0 for vote in votes) and all(name != refusing for name, _ in tier):
                    break
            self.is_asking = False
            found = self.said_of(job.uid).refusals
            self._others[key] = [each for (_, _, name), each in found.items() if name != refusing]
            return
        said = self.said_of(job.uid)
        for each in known:
            said.refusals[self.action, each.point, each.plugin] = each

    def job_enqueued(self, job: JobInfo) -> None:
        self._others.clear()
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
