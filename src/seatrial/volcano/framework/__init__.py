"""Session, statement, tiers of plugins and the search for nodes. Upstream: pkg/scheduler/framework and util."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.volcano.framework.extension_points import Point
    from seatrial.volcano.framework.job_updater import SessionResult
    from seatrial.volcano.framework.session import Session, SessionOptions
else:
    __getattr__, __dir__ = lazy_exports(__name__)
