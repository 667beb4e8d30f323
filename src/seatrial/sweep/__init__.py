"""Runs one scenario many times with other values: a search over configurations, seeds, scenarios and cluster sizes."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.sweep.bundle import Bundle, read_bundle
    from seatrial.sweep.dataset import TABLE, Dataset
    from seatrial.sweep.front import Standing
    from seatrial.sweep.page import sweep_page
    from seatrial.sweep.points import Point, points_of
    from seatrial.sweep.sweep import Sweep

__all__ = ["TABLE", "Bundle", "Dataset", "Point", "Standing", "Sweep", "points_of", "read_bundle", "sweep_page"]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "Bundle": "bundle",
            "Dataset": "dataset",
            "Point": "points",
            "Standing": "front",
            "Sweep": "sweep",
            "TABLE": "dataset",
            "points_of": "points",
            "read_bundle": "bundle",
            "sweep_page": "page",
        },
    )
