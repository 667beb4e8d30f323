"""The clock: virtual time and its timers; real time is a subclass."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.clock.real import RealClock
    from seatrial.clock.virtual import END, START, Clock, Timer
else:
    __getattr__, __dir__ = lazy_exports(__name__)
