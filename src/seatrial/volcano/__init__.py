"""Volcano: its kinds, admission, controllers and scheduler, laid out like volcano-sh/volcano."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.volcano.cycle import open_session, run_once
    from seatrial.volcano.scheduler import VolcanoScheduler

__all__ = ["VolcanoScheduler", "open_session", "run_once"]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "VolcanoScheduler": "scheduler",
            "open_session": "cycle",
            "run_once": "cycle",
        },
    )
