"""Metrics of a scheduler under upstream's names, labels and buckets. Upstream: pkg/scheduler/metrics (v1.36.3)."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.scheduler.metrics.families import Family
    from seatrial.scheduler.metrics.meter import Meter
    from seatrial.scheduler.metrics.scheduler_metrics import SchedulerMetrics
else:
    __getattr__, __dir__ = lazy_exports(__name__)
