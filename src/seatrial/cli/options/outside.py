"""The options of commands in which programs outside this process may take part."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seatrial.model.errors import ConfigError

if TYPE_CHECKING:
    from seatrial.control_plane import HostedRun
    from seatrial.outside import OutsideController
    from seatrial.scenario import ScenarioRun
    from seatrial.store import Store

Outside = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=COMMAND|FILE",
        help="A controller that is a program of its own, e.g. 'scheduler=./kube-scheduler --config x.yaml'. "
        "KUBECONFIG is set for it, and {kubeconfig} in the command is replaced. A file may say more.",
    ),
]
OutsideTimeout = Annotated[
    str, typer.Option(metavar="DURATION", help="How long an outside controller may show no progress.")
]


@dataclass(frozen=True, slots=True)
class Programs:
    """The outside controllers of a command."""

    controllers: "tuple[OutsideController, ...]" = ()
    explain: bool = False
    model_config: Path | None = None
    """The configuration of the embedded scheduler."""

    def host(self, store: "Store", maker: Any, folder: Path, logs: Path) -> "HostedRun | None":
        """The server that they need; None without any."""
        if not self.controllers:
            return None
        for controller in self.controllers:
            if not controller.command:
                why = "missing; only `serve` waits for a program that is already running"
                raise ConfigError("", f"controller {controller.name}: command", why)
        from seatrial.control_plane import HostedRun

        make_model = (lambda run: maker(run.store, run.clock, run.timeline)) if self.explain else None
        return HostedRun(store, self.controllers, folder, logs, make_model)

    def check_taking_part(self, run: "ScenarioRun") -> None:
        """ConfigError where the scenario does not name a controller: the run would leave it out without a word."""
        from seatrial.scenario.engine import enabled_names, simulated_names
        from seatrial.scenario.spec.kind import Controllers

        if not self.controllers:
            return
        chosen = Controllers.of(run.document)
        taking_part = {*simulated_names(chosen, run.plan.dialect), *enabled_names(chosen)}
        for controller in self.controllers:
            if controller.name not in taking_part:
                why = f"the scenario does not name {controller.name}, only {', '.join(sorted(taking_part)) or 'none'}"
                raise ConfigError("", "spec.controllers", f"{why}: name it there, or leave out its --outside")


NO_PROGRAMS = Programs()


def read_options(given: Iterable[str], timeout: str, scheduler_config: Path | None, *, explain: bool) -> Programs:
    """The outside controllers that the options name; ConfigError says what is wrong."""
    listed = tuple(given)
    if not listed:
        if explain:
            raise ConfigError("", "--explain-with-model", "goes with --outside: the embedded scheduler explains itself")
        return Programs((), False, scheduler_config)
    from seatrial.outside import config_file, read_outside

    controllers = read_outside(listed, timeout)
    schedulers = [controller for controller in controllers if controller.is_scheduler]
    if explain and not schedulers:
        raise ConfigError("", "--explain-with-model", "none of the outside controllers is a scheduler")
    if explain and scheduler_config is None:
        scheduler_config = config_file(schedulers[0].command)
    return Programs(controllers, explain, scheduler_config)
