"""The CronJob controller and its schedules. Upstream: pkg/controller/cronjob (v1.36)."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.controllers.cronjob.schedule import Schedule
else:
    __getattr__, __dir__ = lazy_exports(__name__)
