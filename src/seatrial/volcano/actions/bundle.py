"""Bundles: the tasks of a victim job that can go without breaking its gang, and those that break it.

Upstream: actions/utils/bundle.go.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cmp_to_key
from math import inf

from seatrial.volcano.cache.job_info import JobInfo
from seatrial.volcano.cache.resource import Resource
from seatrial.volcano.cache.task_info import READY_STATUSES, TaskInfo

SAFE, WHOLE = 0, 1
Less = Callable[[JobInfo, JobInfo], bool]


@dataclass(frozen=True, slots=True)
class Bundle:
    """Tasks of one job that are evicted together: a surplus (SAFE), or what breaks the gang (WHOLE)."""

    type: int
    job: JobInfo
    tasks: tuple[TaskInfo, ...]
    whole: Resource
    """What the job loses altogether where its gang is broken."""

    def worth(self, need: Resource) -> float:
        """What is freed here per what is lost altogether, both measured by the need."""
        lost = _measured(self.whole, need, False)
        return _measured(summed(self.tasks), need, True) / lost if lost else inf


def job_bundles(job: JobInfo, local: Sequence[TaskInfo]) -> list[Bundle]:
    """Splits the tasks of a job in a domain, least important first."""
    tasks = sorted(local, key=lambda task: (task.priority, task.uid))
    surplus = job.ready_tasks - job.min_available
    if surplus < 0:
        return [Bundle(SAFE, job, tuple(tasks), Resource())]
    roles = _role_surplus(job)
    broken, groups = _group_surplus(job)
    safe, whole = [], []
    for task in tasks:
        sub_job = job.sub_jobs[job.sub_job_of[task.uid]]
        group_safe = not job.min_sub_jobs or sub_job.uid in broken or groups[sub_job.gid] > 0
        if surplus <= 0 or roles.get(task.role, 1) <= 0 or not group_safe:
            whole.append(task)
            continue
        safe.append(task)
        surplus -= 1
        if task.role in roles:
            roles[task.role] -= 1
        if job.min_sub_jobs and sub_job.uid not in broken:
            broken.add(sub_job.uid)
            groups[sub_job.gid] -= 1
    found = [Bundle(SAFE, job, tuple(safe), Resource())] if safe else []
    if whole:
        found.append(Bundle(WHOLE, job, tuple(whole), summed(job.index)))
    return found


def _role_surplus(job: JobInfo) -> dict[str, int]:
    """How many tasks each role with a minimum has beyond it."""
    if job.min_available < job.task_min_total:
        return {}
    index = job.index
    return {
        role: index.in_role(role, READY_STATUSES) + index.best_effort_in(role) - least
        for role, least in job.task_min_available.items()
    }


def _group_surplus(job: JobInfo) -> tuple[set[str], Counter[str]]:
    """The sub-jobs that are not complete, and how many complete ones each policy has beyond its minimum."""
    broken = {uid for uid, sub_job in job.sub_jobs.items() if not sub_job.is_ready}
    groups = Counter(sub_job.gid for uid, sub_job in job.sub_jobs.items() if uid not in broken)
    for gid, least in job.min_sub_jobs.items():
        groups[gid] -= least
    return broken, groups


def allowed_bundles(bundles: Sequence[Bundle], allowed: Sequence[TaskInfo]) -> list[Bundle]:
    """The bundles with the tasks plugins allow; one that breaks a gang is allowed as a whole or not at all."""
    uids = {task.uid for task in allowed}
    found = []
    for bundle in bundles:
        kept = tuple(task for task in bundle.tasks if task.uid in uids)
        if kept and (bundle.type == SAFE or len(kept) == len(bundle.tasks)):
            found.append(replace(bundle, tasks=kept))
    return found


def sort_bundles(bundles: Sequence[Bundle], need: Resource, first: Less) -> list[Bundle]:
    """SAFE ones first, then by the order of their jobs, then by what they are worth."""

    def compare(left: Bundle, right: Bundle) -> int:
        if left.type != right.type:
            return left.type - right.type
        if left.job is not right.job:
            one, other = first(left.job, right.job), first(right.job, left.job)
            if one != other:
                return -1 if one else 1
        mine, theirs = left.worth(need), right.worth(need)
        if mine != theirs:
            return -1 if mine > theirs else 1
        keys = [(b.job.uid, b.tasks[0].uid, len(b.tasks)) for b in (left, right)]
        return int(keys[0] > keys[1]) - int(keys[0] < keys[1])

    return sorted(bundles, key=cmp_to_key(compare))


def summed(tasks: Iterable[TaskInfo]) -> Resource:
    """What tasks ask for together."""
    total = Resource()
    for task in tasks:
        total.add(task.resreq)
    return total


def _measured(amount: Resource, need: Resource, capped: bool) -> float:
    total = 0.0
    for name in need.names():
        wanted, value = need.get(name), amount.get(name)
        total += (min(value, wanted) if capped else value) / wanted
    return total
