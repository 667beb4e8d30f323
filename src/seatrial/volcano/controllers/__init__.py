"""Volcano's controllers: Job, PodGroup, Queue, JobFlow, JobTemplate and CronJob.

Upstream: pkg/controllers.
"""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.volcano.controllers.registry import build_controllers
else:
    __getattr__, __dir__ = lazy_exports(__name__)
