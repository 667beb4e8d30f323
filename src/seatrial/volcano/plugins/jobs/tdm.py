"""tdm: nodes that are lent to Volcano for some hours of the day, and taken back when the time is over.

The hours are those of UTC. Upstream: plugins/tdm/tdm.go.
"""

from collections.abc import Sequence
from math import ceil

import numpy as np

from seatrial.model.durations import DurationError, parse_duration
from seatrial.model.times import MINUTE
from seatrial.scheduler.framework import Code
from seatrial.volcano.cache.fit_errors import FitStatus, Statuses
from seatrial.volcano.cache.job_info import JobInfo
from seatrial.volcano.cache.node_columns import Floats, Rows
from seatrial.volcano.cache.node_info import NodeInfo
from seatrial.volcano.cache.task_info import TaskInfo, TaskStatus
from seatrial.volcano.framework.extension_points import PERMIT, REJECT, Point
from seatrial.volcano.framework.plugin import NodeByNode, Plugin
from seatrial.volcano.framework.priority_queue import KeyOrder

ZONE_PREFIX = "tdm.revocable-zone."
MAX_NODE_SCORE = 100.0
DAY = 24 * 60 * MINUTE
DEFAULT_EVICTIONS = 1
NOT_ALLOWED = "not allow to dispatch to revocable node"
_LAST_EVICTION = "tdm"


class Tdm(Plugin):
    """Lets revocable tasks use revocable nodes while their zone is open."""

    name = "tdm"

    def on_session_open(self) -> None:
        session = self.session
        self._zones = {
            key.replace(ZONE_PREFIX, "", 1): str(value)
            for key, value in self.arguments.values.items()
            if ZONE_PREFIX in key
        }
        try:
            self._period = parse_duration(self.arguments.text("tdm.evict.period", "1m"))
        except DurationError:
            self._period = MINUTE
        self.add_predicate(NodeByNode(session.node_list, self._judge))
        self.add(Point.NODE_ORDER, self._score)
        self.add(Point.PREEMPTABLE, self._preemptable)
        self.add(Point.VICTIM_TASKS, self._victims)
        self.add(Point.JOB_ORDER, KeyOrder[JobInfo](lambda job: job.preemptable))
        self.add(Point.JOB_PIPELINED, lambda job: PERMIT if job.is_pipelined else REJECT)
        self.add(Point.JOB_STARVING, self._is_starving)

    def _closed(self, zone: str) -> str:
        """Why a zone is not open now; empty where it is."""
        text = self._zones.get(zone)
        if text is None:
            return f"revocable zone {zone} not support"
        hours = _hours(text)
        if hours is None:
            return f"revocable zone {text} format error"
        now = self.session.now
        midnight = now - now % DAY
        start, end = midnight + hours[0], midnight + hours[1]
        if hours[0] >= hours[1]:
            end += DAY
        second = 1_000_000
        is_open = start // second <= now // second <= end // second
        return "" if is_open else f"current time beyond revocable zone {zone}:{text}"

    def _judge(self, task: TaskInfo, node: NodeInfo) -> Statuses:
        if not node.revocable_zone:
            return ()
        reason = self._closed(node.revocable_zone)
        if not reason and not task.revocable_zone:
            reason = NOT_ALLOWED
        return (FitStatus(Code.UNRESOLVABLE, reason, self.name),) if reason else ()

    def _score(self, task: TaskInfo, rows: Rows) -> Floats:
        if not task.revocable_zone:
            return np.zeros(len(rows))
        nodes = self.session.node_list
        zones = [nodes[row].revocable_zone for row in rows.tolist()]
        return np.asarray([MAX_NODE_SCORE if zone and not self._closed(zone) else 0.0 for zone in zones])

    def _preemptable(self, preemptor: TaskInfo, candidates: Sequence[TaskInfo]) -> tuple[list[TaskInfo], int]:
        """Only tasks that are not preemptable themselves preempt, and only off nodes that are not lent."""
        if preemptor.preemptable or preemptor.revocable_zone:
            return [], REJECT
        by_job: dict[str, list[TaskInfo]] = {}
        for task in candidates:
            node = self.session.nodes.get(task.node_name)
            if task.preemptable and task.status is TaskStatus.RUNNING and node is not None and not node.revocable_zone:
                by_job.setdefault(task.job, []).append(task)
        return self._within_budgets(by_job), PERMIT

    def _victims(self, _: Sequence[TaskInfo]) -> list[TaskInfo]:
        """Tasks on nodes whose zone has closed, once in a period."""
        memory, now = self.session.options.memory, self.session.now
        last = memory.get(_LAST_EVICTION)
        if isinstance(last, int) and last + self._period > now:
            return []
        memory[_LAST_EVICTION] = now
        victims: list[TaskInfo] = []
        for zone in sorted(self._zones):
            if not self._closed(zone):
                continue
            by_job: dict[str, list[TaskInfo]] = {}
            for node in self.session.node_list:
                if node.revocable_zone == zone:
                    for task, status in node.listed():
                        if task.preemptable and status is TaskStatus.RUNNING:
                            by_job.setdefault(task.job, []).append(task)
            victims.extend(self._within_budgets(by_job))
        return victims

    def _within_budgets(self, by_job: dict[str, list[TaskInfo]]) -> list[TaskInfo]:
        jobs = self.session.jobs
        return [task for uid in sorted(by_job) if uid in jobs for task in by_job[uid][: _most(jobs[uid])]]

    def _is_starving(self, job: JobInfo) -> bool:
        return not job.preemptable and bool(job.index.of(TaskStatus.PENDING))

    def wakes_at(self) -> int | None:
        """When a zone opens or closes next."""
        now = self.session.now
        midnight = now - now % DAY
        hours = [hour for text in self._zones.values() for hour in _hours(text) or ()]
        instants = [midnight + hour + day * DAY + 1_000_000 for hour in hours for day in (0, 1)]
        return min((instant for instant in instants if instant > now), default=None)


def _most(job: JobInfo) -> int:
    """How many tasks of a job may go now, by its disruption budget."""
    least, most = job.budget
    running, count = len(job.index.of(TaskStatus.RUNNING)), len(job.index)
    if most:
        done = len(job.index.of(TaskStatus.SUCCEEDED)) + len(job.index.of(TaskStatus.FAILED))
        return max(_number(most, count) - (count - done - running), 0)
    if least and running >= _number(least, count):
        return running - _number(least, count)
    return DEFAULT_EVICTIONS


def _number(text: str, whole: int) -> int:
    """A number, or a percentage of the whole rounded up; anything else is 0."""
    if text.lstrip("+-").isdigit():
        return int(text)
    share = text.removesuffix("%")
    return ceil(int(share) * whole / 100) if text.endswith("%") and share.lstrip("+-").isdigit() else 0


def _hours(text: str) -> tuple[int, int] | None:
    """The hours of a zone `15:04-16:04`, in microseconds since midnight."""
    parts = text.strip().split("-")
    found = [_time_of_day(part) for part in parts]
    if len(found) != 2 or found[0] is None or found[1] is None:
        return None
    return found[0], found[1]


def _time_of_day(text: str) -> int | None:
    hours, colon, minutes = text.partition(":")
    if not colon or not (hours.isdigit() and minutes.isdigit()) or len(minutes) != 2:
        return None
    if int(hours) > 23 or int(minutes) > 59:
        return None
    return (int(hours) * 60 + int(minutes)) * MINUTE
