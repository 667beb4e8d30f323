"""Runs one scenario many times with other values: a search over configurations, seeds, scenarios and cluster sizes."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.sweeps.bundle import Bundle, read_bundle
    from seatrial.sweeps.dataset import OBJECTIVES, RUNS, TABLE, Dataset
    from seatrial.sweeps.front import Standing
    from seatrial.sweeps.page import sweep_page
    from seatrial.sweeps.points import Point, points_of
    from seatrial.sweeps.sweep import Sweep
else:
    __getattr__, __dir__ = lazy_exports(__name__)
