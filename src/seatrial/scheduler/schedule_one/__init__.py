"""One scheduling attempt, from the popped pod to the binding. Upstream: pkg/scheduler/schedule_one.go."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.scheduler.schedule_one.pod_status import PodStatusWriter
    from seatrial.scheduler.schedule_one.schedule_one import Algorithm, Attempt
    from seatrial.scheduler.schedule_one.seeded_random import SeededRandom
    from seatrial.scheduler.schedule_one.select_host import TieBreak, best_places, nodes_to_find

__all__ = ["Algorithm", "Attempt", "PodStatusWriter", "SeededRandom", "TieBreak", "best_places", "nodes_to_find"]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "Algorithm": "schedule_one",
            "Attempt": "schedule_one",
            "PodStatusWriter": "pod_status",
            "SeededRandom": "seeded_random",
            "TieBreak": "select_host",
            "best_places": "select_host",
            "nodes_to_find": "select_host",
        },
    )
