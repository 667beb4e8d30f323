"""Programs outside this process as controllers of a scenario: their turns at the API server, and when they are idle."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.outside.configuration import OutsideController, config_file, read_outside
    from seatrial.outside.controllers import MakeModel, OutsideControllers, launcher
    from seatrial.outside.cooperation import Cooperation

__all__ = [
    "Cooperation",
    "MakeModel",
    "OutsideController",
    "OutsideControllers",
    "config_file",
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
            "config_file": "configuration",
            "launcher": "controllers",
            "read_outside": "configuration",
        },
    )
