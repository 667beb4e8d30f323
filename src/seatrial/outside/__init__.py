"""Programs outside this process as controllers of a scenario: their turns at the API server, and when they are idle."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.outside.client import SeatrialClientError, connection_of
    from seatrial.outside.configuration import OutsideController, config_file, read_outside
    from seatrial.outside.controllers import MakeModel, OutsideControllers, launcher
    from seatrial.outside.cooperation import Cooperation

__all__ = [
    "Cooperation",
    "MakeModel",
    "OutsideController",
    "OutsideControllers",
    "SeatrialClientError",
    "config_file",
    "connection_of",
    "launcher",
    "read_outside",
]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "Cooperation": "cooperation",
            "MakeModel": "controllers",
            "OutsideController": "configuration",
            "OutsideControllers": "controllers",
            "SeatrialClientError": "client",
            "config_file": "configuration",
            "connection_of": "client",
            "launcher": "controllers",
            "read_outside": "configuration",
        },
    )
