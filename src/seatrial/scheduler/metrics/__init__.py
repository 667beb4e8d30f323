"""Metrics of a scheduler under upstream's names, labels and buckets. Upstream: pkg/scheduler/metrics (v1.36.3)."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.scheduler.metrics.meter import Meter
    from seatrial.scheduler.metrics.scheduler_metrics import SchedulerMetrics

__all__ = ["Meter", "SchedulerMetrics"]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(__name__, {"Meter": "meter", "SchedulerMetrics": "scheduler_metrics"})
