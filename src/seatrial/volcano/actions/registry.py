"""All actions by name. Upstream: pkg/scheduler/actions/factory.go."""

from collections.abc import Callable, Mapping

from seatrial.volcano.actions import (
    allocate,
    backfill,
    enqueue,
    gangpreempt,
    gangreclaim,
    preempt,
    reclaim,
    shuffle,
)
from seatrial.volcano.framework.session import Session

ACTIONS: Mapping[str, Callable[[Session], None]] = {
    "allocate": allocate.execute,
    "backfill": backfill.execute,
    "enqueue": enqueue.execute,
    "gangpreempt": gangpreempt.execute,
    "gangreclaim": gangreclaim.execute,
    "preempt": preempt.execute,
    "reclaim": reclaim.execute,
    "shuffle": shuffle.execute,
}
