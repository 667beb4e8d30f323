"""The registry of controllers by name, and the selection of those that run in a scenario.

All registered controllers run before the simulation unless they are disabled or simulated themselves; those that act
on time alone are off unless enabled. The scheduler is simulated in the first spelling, and in the
second where it is named.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from seatrial.clock import Clock
from seatrial.controllers import OFF_BY_DEFAULT, build_controllers, controller_names
from seatrial.model.errors import ConfigError
from seatrial.scenario.engine.controller_set import SimulationControllers
from seatrial.scenario.engine.embedded_volcano import VOLCANO, MakeVolcano
from seatrial.scenario.engine.participants import Participant, SchedulerLoop, participant_of
from seatrial.scenario.engine.user_controllers import UserController, UserControllerParticipant, check
from seatrial.scenario.spec.dialect import Dialect
from seatrial.scenario.spec.kind import Controllers, ControllerSet
from seatrial.scenario.spec.validation import canonical
from seatrial.scheduler.plugins import load_module
from seatrial.store import Store

SCHEDULER = "scheduler"
SCHEDULERS = (SCHEDULER, VOLCANO)
CLUSTER_AUTOSCALER = "cluster-autoscaler"
_NO_CONTROLLERS = ControllerSet()
MakeParticipant = Callable[[], Participant]
"""Makes a participant that runs outside this process."""
_NO_OUTSIDE: Mapping[str, MakeParticipant] = MappingProxyType({})


@dataclass(slots=True)
class Registry:
    """The controllers that scenarios may name."""

    own: dict[str, type[UserController]] = field(default_factory=dict)

    def register(self, controller: type[UserController]) -> type[UserController]:
        """Add a user's controller; usable as a decorator."""
        name = check(controller()).name
        if name in self.names() or canonical(name) != name:
            raise ConfigError("", f"controller {name}", "the name is taken")
        self.own[name] = controller
        return controller

    def names(self) -> list[str]:
        return [*SCHEDULERS, *controller_names(), CLUSTER_AUTOSCALER, *self.own]

    def build(
        self,
        controllers: Controllers,
        dialect: Dialect,
        store: Store,
        clock: Clock,
        scheduler: SchedulerLoop,
        volcano: MakeVolcano | None = None,
        outside: Mapping[str, MakeParticipant] = _NO_OUTSIDE,
    ) -> SimulationControllers:
        """Build the controllers of a scenario, in the order in which they run.

        A controller of `outside` replaces the embedded one of its name; it runs only where it is named.
        """
        simulated = simulated_names(controllers, dialect)
        chosen = controllers.presimulation_controllers or _NO_CONTROLLERS
        preparing = self._preparing(chosen, simulated, outside)
        wanted = {*preparing, *simulated}
        built: dict[str, Participant] = {name: make() for name, make in outside.items() if name in wanted}
        wanted -= built.keys()
        for controller in build_controllers(store, clock, [name for name in controller_names() if name in wanted]):
            built[controller.name] = controller
        for name in self.own:
            if name in wanted:
                built[name] = UserControllerParticipant(_made(self.own[name]), store, clock)
        if SCHEDULER in wanted:
            built[SCHEDULER] = participant_of(scheduler)
        helping: list[Participant] = []
        if volcano is not None:
            built[VOLCANO], controllers_of_volcano = volcano()
            helping.append(controllers_of_volcano)
        return SimulationControllers(
            [*helping, *(built[name] for name in preparing)], [built[name] for name in simulated]
        )

    def uses_volcano(self, controllers: Controllers, dialect: Dialect) -> bool:
        """Whether Volcano takes part in a scenario."""
        simulated = simulated_names(controllers, dialect)
        return VOLCANO in simulated or VOLCANO in self._preparing(
            controllers.presimulation_controllers or _NO_CONTROLLERS, simulated
        )

    def _preparing(self, chosen: ControllerSet, simulated: Sequence[str], outside: Iterable[str] = ()) -> list[str]:
        disabled = set(_names(chosen.disabled))
        enabled = set(_names(chosen.enabled))
        names = list(dict.fromkeys((*self.names(), *outside)))
        off = {*disabled, *OFF_BY_DEFAULT, CLUSTER_AUTOSCALER, *outside}
        on = [name for name in names if name not in off]
        if "*" in disabled:
            on = []
        # A scheduler is a pre-simulation controller only where it is enabled by name.
        return [
            name
            for name in names
            if name not in {*simulated, *disabled} and (name in enabled or (name in on and name not in SCHEDULERS))
        ]


def simulated_names(controllers: Controllers, dialect: Dialect) -> list[str]:
    """The controllers that are simulated; in the first spelling the scheduler alone."""
    if not dialect.minor_steps:
        return [SCHEDULER]
    chosen = controllers.simulation_controllers or _NO_CONTROLLERS
    disabled = _names(chosen.disabled)
    return [name for name in _names(chosen.enabled) if name not in disabled]


def enabled_names(controllers: Controllers) -> list[str]:
    """The controllers that a scenario names, simulated or pre-simulation."""
    sets = controllers.simulation_controllers, controllers.presimulation_controllers
    return [
        name
        for chosen in sets
        if chosen is not None
        for name in _names(chosen.enabled)
        if name not in _names(chosen.disabled)
    ]


def _made(controller: type[UserController]) -> UserController:
    try:
        return controller()
    except (Exception, SystemExit) as error:
        raise ConfigError("", f"controller {controller.__name__}", f"{type(error).__name__}: {error}") from error


def _names(listed: Iterable[object] | None) -> list[str]:
    return list(dict.fromkeys(canonical(getattr(item, "name", "")) for item in listed or ()))


REGISTRY = Registry()
"""The controllers of this process; `--controllers MODULE` and the Python API add to it."""


def load_controllers(modules: Iterable[str], registry: Registry = REGISTRY) -> None:
    """Register the controllers of modules or .py files; ConfigError if a module has no controller."""
    for name in modules:
        module = load_module(name)
        found = [
            value
            for value in vars(module).values()
            if isinstance(value, type) and issubclass(value, UserController) and value.__module__ == module.__name__
        ]
        if not found:
            raise ConfigError(name, "", "no class in it is a seatrial.scenario.engine.user_controllers.UserController")
        for controller in found:
            if registry.own.get(controller.name) is not controller:
                registry.register(controller)
