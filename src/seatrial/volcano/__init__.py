"""Volcano: its kinds, admission, controllers and scheduler, laid out like volcano-sh/volcano."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.volcano.cycle import open_session, run_once
    from seatrial.volcano.framework.explanation_words import JobWords
    from seatrial.volcano.metrics.scheduler_metrics import VolcanoMetrics
    from seatrial.volcano.scheduler import VolcanoScheduler
else:
    __getattr__, __dir__ = lazy_exports(__name__)
