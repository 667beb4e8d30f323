"""Tasks by status, with the counts that gangs are judged by. Jobs and sub-jobs share it.

Upstream walks the tasks for every question; the counts here are kept as tasks move, so that a gang of ten thousand
is as quick to ask as one of ten. Upstream: pkg/scheduler/api/job_info.go (TaskStatusIndex and what counts it).
"""

from collections.abc import Container, Iterator

from seatrial.volcano.cache.task_info import READY_STATUSES, TaskInfo, TaskStatus

Tasks = dict[str, TaskInfo]
NO_TASKS: Tasks = {}
NO_COUNTS: dict[TaskStatus, int] = {}


class TaskIndex:
    """The tasks of a job or sub-job by uid, by status, and counted by status and role."""

    __slots__ = (
        "_best_effort_roles",
        "_roles",
        "allocated",
        "best_effort",
        "by_status",
        "ready",
        "tasks",
        "waiting",
    )

    def __init__(self) -> None:
        self.tasks: Tasks = {}
        self.by_status: dict[TaskStatus, Tasks] = {}
        self._roles: dict[str, dict[TaskStatus, int]] = {}
        self._best_effort_roles: dict[str, int] = {}
        self.ready = 0
        """Tasks that hold resources or are done."""
        self.allocated = 0
        self.waiting = 0
        """Pipelined tasks."""
        self.best_effort = 0
        """Pending tasks that ask for nothing."""

    def add(self, task: TaskInfo) -> None:
        self.tasks[task.uid] = task
        self._put(task, task.status)

    def move(self, task: TaskInfo, old: TaskStatus, new: TaskStatus) -> None:
        """A task of the index, or a copy of it, changes its status; one that is not listed under the old is added."""
        if self.by_status.get(old, NO_TASKS).pop(task.uid, None) is not None:
            self._count(task, old, -1)
        self.tasks[task.uid] = task
        self._put(task, new)

    def _put(self, task: TaskInfo, status: TaskStatus) -> None:
        tasks = self.by_status.get(status)
        if tasks is None:
            tasks = self.by_status[status] = {}
        tasks[task.uid] = task
        self._count(task, status, 1)

    def _count(self, task: TaskInfo, status: TaskStatus, sign: int) -> None:
        counts = self._roles.get(task.role)
        if counts is None:
            counts = self._roles[task.role] = {}
        counts[status] = counts.get(status, 0) + sign
        if status in READY_STATUSES:
            self.ready += sign
            if status is not TaskStatus.SUCCEEDED:
                self.allocated += sign
        elif status is TaskStatus.PIPELINED:
            self.waiting += sign
        elif status is TaskStatus.PENDING and task.best_effort:
            self.best_effort += sign
            self._best_effort_roles[task.role] = self._best_effort_roles.get(task.role, 0) + sign

    def of(self, status: TaskStatus) -> Tasks:
        """The tasks in a status, by uid."""
        return self.by_status.get(status, NO_TASKS)

    def listed(self, status: TaskStatus) -> list[TaskInfo]:
        """The tasks in a status, in the order of their uids."""
        tasks = self.of(status)
        return [tasks[uid] for uid in sorted(tasks)]

    def count(self, statuses: Container[TaskStatus]) -> int:
        total = 0
        for status, tasks in self.by_status.items():
            if status in statuses:
                total += len(tasks)
        return total

    def in_role(self, role: str, statuses: Container[TaskStatus]) -> int:
        """How many tasks of a role are in one of the statuses."""
        total = 0
        for status, count in self._roles.get(role, NO_COUNTS).items():
            if status in statuses:
                total += count
        return total

    def best_effort_in(self, role: str) -> int:
        """How many pending tasks of a role ask for nothing."""
        return self._best_effort_roles.get(role, 0)

    def pending_roles(self) -> dict[str, int]:
        """How many tasks of each role are pending."""
        waiting = TaskStatus.PENDING
        return {role: counts[waiting] for role, counts in self._roles.items() if waiting in counts}

    def __iter__(self) -> Iterator[TaskInfo]:
        """All tasks, in the order of their uids."""
        return iter([self.tasks[uid] for uid in sorted(self.tasks)])

    def __len__(self) -> int:
        return len(self.tasks)
