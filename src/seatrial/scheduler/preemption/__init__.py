"""Preemption: selects the pods to evict so that a pod fits, and evicts them.

Upstream: pkg/scheduler/framework/preemption and plugins/defaultpreemption.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.scheduler.preemption.candidates import Victims, best_candidates
    from seatrial.scheduler.preemption.executor import Executor
    from seatrial.scheduler.preemption.sort_slice import go_sort

__all__ = ["Executor", "Victims", "best_candidates", "go_sort"]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "Executor": "executor",
            "Victims": "candidates",
            "best_candidates": "candidates",
            "go_sort": "sort_slice",
        },
    )
