"""Request handlers: the verbs, subresources, discovery, reviews, and the simulator API."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.server.handlers.options import is_dry_run
    from seatrial.server.handlers.simulator_api import SimulatorApi
    from seatrial.server.handlers.subresources import BINDING

__all__ = ["BINDING", "SimulatorApi", "is_dry_run"]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "BINDING": "subresources",
            "SimulatorApi": "simulator_api",
            "is_dry_run": "options",
        },
    )
