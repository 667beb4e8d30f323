"""What the controller reads of a Volcano Job, and the status it writes; fields that are zero are left out, as in Go."""

from typing import Any, NamedTuple

import msgspec

from seatrial.model.times import to_time
from seatrial.store import StatusView, Stored, View


class JobState(msgspec.Struct, rename="camel", omit_defaults=True):
    phase: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None


class TaskState(msgspec.Struct, rename="camel", omit_defaults=True):
    phase: dict[str, int] = {}


class JobCondition(msgspec.Struct, rename="camel", omit_defaults=True):
    status: str
    last_transition_time: str | None = None


class JobStatus(msgspec.Struct, rename="camel", omit_defaults=True):
    """batch.volcano.sh/v1alpha1 JobStatus."""

    state: JobState = msgspec.field(default_factory=JobState)
    min_available: int = 0
    task_status_count: dict[str, TaskState] = {}
    pending: int = 0
    running: int = 0
    succeeded: int = 0
    failed: int = 0
    terminating: int = 0
    unknown: int = 0
    version: int = 0
    retry_count: int = 0
    running_duration: str | None = None
    controlled_resources: dict[str, str] = {}
    conditions: list[JobCondition] = []

    def copy(self) -> "JobStatus":
        """A status that may be changed: the one that was read is shared."""
        return msgspec.structs.replace(
            self, state=msgspec.structs.replace(self.state), controlled_resources=dict(self.controlled_resources)
        )

    def count(self, task: str, phase: str) -> None:
        """Add one pod of a task to the counts."""
        known = phase if phase in ("Pending", "Running", "Succeeded", "Failed") else "Unknown"
        field = known.lower()
        setattr(self, field, getattr(self, field) + 1)
        phases = self.task_status_count.setdefault(task, TaskState({})).phase
        phases[known] = phases.get(known, 0) + 1

    def note_transition(self, now: int) -> None:
        """Set the time of the state, and move its condition to the end of the list."""
        self.state.last_transition_time = to_time(now)
        phase = self.state.phase
        others = [condition for condition in self.conditions if condition.status != phase]
        self.conditions = [*others, JobCondition(phase, self.state.last_transition_time)]


class JobMetadata(msgspec.Struct, rename="camel"):
    generation: int = 0
    creation_timestamp: str = ""
    deletion_timestamp: str | None = None


class DependsOn(msgspec.Struct):
    name: list[str] = []
    iteration: str = ""


class TaskSpec(msgspec.Struct, rename="camel"):
    """A task without its template."""

    name: str = ""
    replicas: int = 0
    min_available: int | None = None
    max_retry: int | None = None
    depends_on: DependsOn | None = None

    @property
    def least(self) -> int:
        """How many pods of the task must run."""
        return self.min_available if self.min_available is not None else self.replicas


class JobSpec(msgspec.Struct, rename="camel"):
    queue: str = ""
    tasks: list[TaskSpec] = []
    min_available: int = 0
    min_success: int | None = None
    max_retry: int = 0
    plugins: dict[str, Any] | None = None
    volumes: list[Any] | None = None
    ttl_seconds_after_finished: int | None = None

    @property
    def replicas(self) -> int:
        """How many pods the Job wants."""
        return sum(task.replicas for task in self.tasks)

    def task(self, name: str) -> TaskSpec | None:
        """The task of that name."""
        return next((task for task in self.tasks if task.name == name), None)


class _Job(msgspec.Struct):
    metadata: JobMetadata = msgspec.field(default_factory=JobMetadata)
    spec: JobSpec = msgspec.field(default_factory=JobSpec)


class JobView(NamedTuple):
    """A Job without the templates of its tasks."""

    uid: str
    metadata: JobMetadata
    spec: JobSpec
    status: JobStatus


JOBS_KEPT = 4096
_JOB, _STATUS = View(_Job, kept=JOBS_KEPT), StatusView(JobStatus, kept=JOBS_KEPT)


def read_job(stored: Stored) -> JobView:
    """What a Job says; its spec is shared by the Jobs that are alike."""
    job = _JOB.read(stored)
    return JobView(stored.uid, job.metadata, job.spec, _STATUS.read(stored))
