"""Why a job does not run: what each action and plugin said about it in the last session, and what would let it in.

An explanation is made for every waiting job of every session, so it holds numbers; words are made when they are read.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from seatrial.volcano.cache.job_info import INQUEUE, PENDING, JobInfo
from seatrial.volcano.cache.resource import Resource
from seatrial.volcano.cache.task_info import READY_STATUSES, TaskInfo, TaskStatus
from seatrial.volcano.framework.refusals import Said
from seatrial.volcano.framework.session import Session

_NOTHING = Said()
_WAITING = (TaskStatus.PENDING, TaskStatus.PIPELINED)
_PLANNED = READY_STATUSES | {TaskStatus.PIPELINED}


@dataclass(frozen=True, slots=True)
class Unfit:
    """A task of a gang that fits on no node."""

    task: str
    request: Resource
    nodes: int
    reasons: Counter[str]
    plugins: tuple[str, ...]
    message: str
    largest: Resource
    """The largest idle amount of each resource on any node."""


@dataclass(frozen=True)
class Explanation:
    """A job that waits, and all that was said about it."""

    job: str
    """Namespace and name of its PodGroup."""
    owner: tuple[str, str]
    """Kind and name of the object the PodGroup belongs to; empty where it stands alone."""
    queue: str
    phase: str
    min_available: int
    tasks: int
    pipelined: int
    placed: int
    """Tasks that have resources, or had until the gang turned out to be incomplete."""
    said: Said
    unfit: Unfit | None

    @property
    def is_let_in(self) -> bool:
        return self.phase not in ("", PENDING)

    @property
    def has_started(self) -> bool:
        """Whether its gang runs, and only pods beyond it wait."""
        return self.phase not in ("", PENDING, INQUEUE)


def explain_pending(session: Session) -> list[Explanation]:
    """Every job with tasks that wait, or that was not let in."""
    largest = _Largest(session)
    return [
        _explanation(session, job, largest)
        for job in session.jobs.values()
        if job.is_pending or any(job.index.of(status) for status in _WAITING)
    ]


class _Largest:
    """The largest idle amounts at the end of a session; worked out when a job first asks."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @cached_property
    def amount(self) -> Resource:
        idle = self._session.columns.idle
        if not self._session.columns.size:
            return Resource()
        scalars = {name: float(column.max()) for name, column in idle.items() if name not in ("cpu", "memory")}
        return Resource(float(idle["cpu"].max()), float(idle["memory"].max()), scalars)


def _explanation(session: Session, job: JobInfo, largest: _Largest) -> Explanation:
    index = job.index
    planned = sum(task.transaction.status in _PLANNED for task in index.of(TaskStatus.PENDING).values())
    return Explanation(
        job.uid,
        _owner(job),
        job.queue,
        job.pod_group.phase,
        job.min_available,
        len(index),
        len(index.of(TaskStatus.PIPELINED)),
        planned + index.ready + index.waiting,
        session.said.get(job.uid, _NOTHING),
        _unfit(job, largest),
    )


def _owner(job: JobInfo) -> tuple[str, str]:
    for owner in job.pod_group.metadata.get("ownerReferences") or ():
        return owner.get("kind", ""), owner.get("name", "")
    return "", ""


def _unfit(job: JobInfo, largest: _Largest) -> Unfit | None:
    """The task that most nodes were looked at for."""
    worst: TaskInfo | None = None
    for task in _unfit_tasks(job):
        if worst is None or job.nodes_fit_errors[task.uid].nodes > job.nodes_fit_errors[worst.uid].nodes:
            worst = task
    if worst is None:
        return None
    errors = job.nodes_fit_errors[worst.uid]
    found = errors.reasons(), tuple(errors.plugins())
    return Unfit(worst.name, worst.resreq, errors.nodes, *found, errors.message(), largest.amount)


def _unfit_tasks(job: JobInfo) -> Iterator[TaskInfo]:
    return (task for task in job.index if task.uid in job.nodes_fit_errors)
