"""What sessions tell of themselves, and the metrics made of it. Upstream: pkg/scheduler/metrics."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.volcano.metrics.measures import Measures, NoMeasures
    from seatrial.volcano.metrics.scheduler_metrics import VolcanoMetrics
else:
    __getattr__, __dir__ = lazy_exports(__name__)
