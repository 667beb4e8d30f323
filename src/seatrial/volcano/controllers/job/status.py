"""The status of a Volcano Job as the controller writes it; fields that are zero are left out, as Go does."""

import msgspec

from seatrial.model.times import to_time
from seatrial.store import Stored


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
    uid: str = ""
    generation: int = 0
    deletion_timestamp: str | None = None


class JobSpec(msgspec.Struct, rename="camel"):
    queue: str = ""
    ttl_seconds_after_finished: int | None = None


class JobView(msgspec.Struct):
    """What decides whether a Job has to be synced."""

    metadata: JobMetadata = msgspec.field(default_factory=JobMetadata)
    spec: JobSpec = msgspec.field(default_factory=JobSpec)
    status: JobStatus = msgspec.field(default_factory=JobStatus)


_decoder = msgspec.json.Decoder(JobView)


def read_job(stored: Stored) -> JobView:
    """A stored Job without its tasks."""
    return _decoder.decode(stored.data)


def read_status(stored: Stored) -> JobStatus:
    """The status of a stored Job."""
    return read_job(stored).status
