"""Runs one scenario many times with other values: a search over configurations, seeds, scenarios and cluster sizes."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.sweep.bundle import Bundle, read_bundle
    from seatrial.sweep.dataset import TABLE, Dataset
    from seatrial.sweep.front import Standing
    from seatrial.sweep.page import sweep_page
    from seatrial.sweep.points import Point, points_of
    from seatrial.sweep.sweep import Sweep
else:
    __getattr__, __dir__ = lazy_exports(__name__)
