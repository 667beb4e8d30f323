"""Session, statement, tiers of plugins and the search for nodes. Upstream: pkg/scheduler/framework and util."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.volcano.framework.extension_points import Point
    from seatrial.volcano.framework.job_updater import SessionResult
    from seatrial.volcano.framework.session import Session, SessionOptions

__all__ = ["Point", "Session", "SessionOptions", "SessionResult"]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "Point": "extension_points",
            "Session": "session",
            "SessionOptions": "session",
            "SessionResult": "job_updater",
        },
    )
