"""Request handlers: the verbs, subresources, discovery, reviews, and the simulator API."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.server.handlers.options import is_dry_run
    from seatrial.server.handlers.simulator_api import SimulatorApi
    from seatrial.server.handlers.subresources import BINDING
else:
    __getattr__, __dir__ = lazy_exports(__name__)
