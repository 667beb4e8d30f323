"""Preemption: selects the pods to evict so that a pod fits, and evicts them.

Upstream: pkg/scheduler/framework/preemption and plugins/defaultpreemption.
"""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.scheduler.preemption.candidates import best_candidates
    from seatrial.scheduler.preemption.sort_slice import go_sort
else:
    __getattr__, __dir__ = lazy_exports(__name__)
