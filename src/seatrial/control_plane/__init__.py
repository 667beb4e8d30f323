"""Assembles a server process from the packages below: store, API, scheduler, controllers, scenarios, pages."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.control_plane.admission_plugins import disabled_plugins
    from seatrial.control_plane.components import Settings
    from seatrial.control_plane.memory import free_memory
    from seatrial.control_plane.process import run
    from seatrial.control_plane.result_strategy import check_strategy, chosen_strategy
    from seatrial.control_plane.scheduler_configuration import load, load_or_refuse
else:
    __getattr__, __dir__ = lazy_exports(__name__)
