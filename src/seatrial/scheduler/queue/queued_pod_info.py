"""A pod in the queue with the memory of its attempts. Upstream: pkg/scheduler/framework/types.go (QueuedPodInfo)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.framework.events import ClusterEvent


@dataclass(slots=True, eq=False)
class QueuedPod:
    """One pending pod. Times are instants in microseconds; `sequence` orders pods of the same instant by arrival."""

    pod: PodInfo
    timestamp: int
    sequence: int
    attempts: int = 0
    first_attempt: int | None = None
    unschedulable_plugins: frozenset[str] = frozenset()
    """Plugins that rejected the pod in its last attempt: only their events bring it back."""
    pending_plugins: frozenset[str] = frozenset()
    """Those that answered Pending: when they are satisfied the pod skips its backoff."""
    gating_plugin: str = ""
    gating_events: tuple[ClusterEvent, ...] = ()
    unschedulable_count: int = 0
    consecutive_errors: int = 0
    equal_errors: int = 0
    """How often in a row the attempt failed with the same error while nothing changed."""
    last_error: tuple[str, int] | None = None
    """The message of the last error, and the number of changes at that time."""
    backoff_until: int | None = None
    was_flushed: bool = False
    bindings_before: int = 0
    """How many bindings were on their way when the pod was queued last; see `ComingBindings`."""
    signature: bytes | None = None
    """All that plugins read of the pod, for batching; None where that cannot be said."""
    last_status: tuple[PodInfo, str, str, str | None] | None = None
    """The last write to the pod's status (reason, message, nomination), and the pod after it."""

    key: str = field(init=False)
    """namespace/name, which never changes"""

    def __post_init__(self) -> None:
        self.key = self.pod.key

    def count_error(self, message: str, changes: int) -> None:
        """The attempt failed with an error."""
        self.equal_errors = self.equal_errors + 1 if self.last_error == (message, changes) else 1
        self.last_error = message, changes

    @property
    def is_gated(self) -> bool:
        return self.gating_plugin != ""

    @property
    def rejectors(self) -> frozenset[str]:
        pending = self.pending_plugins
        return self.unschedulable_plugins | pending if pending else self.unschedulable_plugins


def priority_order(queued: QueuedPod) -> tuple[int, int, int]:
    """PrioritySort: higher priority first, then the longer wait, then the earlier arrival."""
    return -queued.pod.priority, queued.timestamp, queued.sequence


def arrival_order(
    order: Callable[[QueuedPod], Any], places: Mapping[str, int]
) -> Callable[[QueuedPod], tuple[int, int, Any]]:
    """Pods with a place (by namespace/name) have their first attempt before all others and in that order."""

    def ordered(queued: QueuedPod) -> tuple[int, int, Any]:
        place = places.get(queued.key) if queued.attempts == 0 else None
        return (1, 0, order(queued)) if place is None else (0, place, None)

    return ordered
