"""The clock: virtual time and its timers; real time is a subclass."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.clock.real import RealClock
    from seatrial.clock.virtual import END, START, Clock, Timer

__all__ = ["END", "START", "Clock", "RealClock", "Timer"]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "Clock": "virtual",
            "END": "virtual",
            "RealClock": "real",
            "START": "virtual",
            "Timer": "virtual",
        },
    )
