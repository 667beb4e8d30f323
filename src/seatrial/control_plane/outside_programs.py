"""Outside programs in `serve`: their gate, the functions they may call, and the kubeconfig that is placed for each."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seatrial.model.errors import ConfigError
from seatrial.outside import Cooperation, Kubeconfigs, OutsideController, OutsideControllers, launcher
from seatrial.server.auth import Identities

if TYPE_CHECKING:
    from seatrial.control_plane.components import Parts, Settings
    from seatrial.scenario import SimulationOptions


class OutsidePrograms:
    """The outside programs of a server."""

    def __init__(self, settings: "Settings") -> None:
        self.woken: list[Callable[[], None]] = []
        """Called when the turn of a program is over."""
        self._places: Kubeconfigs | None = None
        self._folder = Path()
        self.controllers = OutsideControllers(settings.outside, self._launch, explain=settings.explain_with_model)
        self.controllers.wake = self._wake

    def place(self, identities: Identities, folder: Path, url: str, authority: Path | None) -> dict[str, Path]:
        """The server has an address: the kubeconfigs, in this folder, of programs that are already running."""
        self._folder = folder
        self._places = Kubeconfigs(identities, folder, url, authority)
        running = [controller for controller in self.controllers.controllers if not controller.command]
        return {controller.name: self._places.place(controller) for controller in running}

    def _launch(self, controller: OutsideController, ended: Callable[[], None]) -> Any:
        assert self._places is not None
        return launcher(self._places.place, self._folder)(controller, ended)

    def _wake(self) -> None:
        for wake in self.woken:
            wake()


def add_outside(parts: "Parts", settings: "Settings", options: "SimulationOptions") -> "SimulationOptions":
    """Give the server its outside programs; the options of scenarios in which they may take part."""
    if settings.insecure:
        raise ConfigError("", "--outside", "needs users, and --insecure has none: leave that option out")
    parts.outside = OutsidePrograms(settings)
    cooperation = Cooperation(parts.outside.controllers)
    parts.gates.append(parts.outside.controllers)
    parts.routes.append(cooperation.routes)
    return replace(options, outside=parts.outside.controllers.makers(), observers=[cooperation])
