"""The programs outside this process that take part in a run."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from seatrial.model.errors import ConfigError
from seatrial.scenario.engine import enabled_names, simulated_names
from seatrial.scenario.spec import dialect_of
from seatrial.scenario.spec.kind import Controllers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seatrial.model.documents import Document
    from seatrial.outside import OutsideController
    from seatrial.simulation.hosted_run import HostedRun
    from seatrial.store import Store


@dataclass(frozen=True, slots=True)
class Programs:
    """The outside controllers of a run."""

    controllers: "tuple[OutsideController, ...]" = ()
    explain: bool = False
    """Whether the embedded scheduler explains the decisions of an outside one."""
    logs: Path | None = None
    """The folder for the output of programs; None discards it."""

    def __bool__(self) -> bool:
        return bool(self.controllers)

    @property
    def model_config(self) -> Path | None:
        """The scheduler configuration that the command of an explained scheduler names."""
        from seatrial.outside import config_file

        schedulers = (controller for controller in self.controllers if controller.is_scheduler)
        return config_file(next(schedulers).command) if self.explain else None

    def host(self, store: "Store") -> "HostedRun":
        """The server that they need."""
        for controller in self.controllers:
            if not controller.command:
                why = "missing; only `serve` waits for a program that is already running"
                raise ConfigError("", f"controller {controller.name}: command", why)
        from seatrial.simulation.hosted_run import HostedRun

        return HostedRun(store, self.controllers, self.logs, explain=self.explain)

    def check_taking_part(self, document: "Document") -> None:
        """ConfigError if a scenario does not name a controller, which the run would silently leave out."""
        chosen = Controllers.of(document)
        dialect = dialect_of(document.get("spec") or {})
        taking_part = {*simulated_names(chosen, dialect), *enabled_names(chosen)}
        for controller in self.controllers:
            if controller.name not in taking_part:
                why = f"the scenario does not name {controller.name}, only {', '.join(sorted(taking_part)) or 'none'}"
                raise ConfigError("", "spec.controllers", f"{why}: name it there, or leave out its --outside")


NO_PROGRAMS = Programs()


def read_programs(given: "Sequence[str]", timeout: str = "60s", *, explain: bool = False) -> Programs:
    """Programs as the option --outside names them: `NAME=COMMAND`, or a file; ConfigError says what is wrong."""
    if not given:
        if explain:
            raise ConfigError("", "--explain-with-model", "goes with --outside: the embedded scheduler explains itself")
        return NO_PROGRAMS
    from seatrial.outside import read_outside

    controllers = read_outside(given, timeout)
    if explain and not any(controller.is_scheduler for controller in controllers):
        raise ConfigError("", "--explain-with-model", "none of the outside controllers is a scheduler")
    return Programs(controllers, explain)
