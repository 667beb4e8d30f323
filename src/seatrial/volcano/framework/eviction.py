"""What an eviction is for. Upstream: pkg/scheduler/api/types.go (EvictionContext)."""

from dataclasses import dataclass
from enum import Enum

from seatrial.volcano.cache.job_info import JobInfo


class EvictionKind(Enum):
    GANG_PREEMPT = "gangpreempt"
    GANG_RECLAIM = "gangreclaim"


@dataclass(frozen=True, slots=True)
class EvictionContext:
    """The job that wants room, where, and by which action."""

    kind: EvictionKind
    job: JobInfo
    hyper_node: str
