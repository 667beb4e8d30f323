"""One scheduling attempt, from the popped pod to the binding. Upstream: pkg/scheduler/schedule_one.go."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.scheduler.schedule_one.pod_status import PodStatusWriter
    from seatrial.scheduler.schedule_one.schedule_one import Algorithm, Attempt
    from seatrial.scheduler.schedule_one.seeded_random import SeededRandom
    from seatrial.scheduler.schedule_one.select_host import TieBreak, best_places, nodes_to_find
else:
    __getattr__, __dir__ = lazy_exports(__name__)
