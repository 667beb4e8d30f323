"""Programs outside this process as controllers of a scenario: their turns at the API server, and when they are idle."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.outside.client import SeatrialClientError, connection_of
    from seatrial.outside.configuration import OutsideController, config_file, read_outside
    from seatrial.outside.controllers import OutsideControllers, launcher
    from seatrial.outside.cooperation import Cooperation
    from seatrial.outside.kubeconfigs import Kubeconfigs
    from seatrial.outside.program import Program
else:
    __getattr__, __dir__ = lazy_exports(__name__)
