"""The options of a simulation run: what is recorded, how far it goes, and with which schedulers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from seatrial.model.documents import Document
from seatrial.scenario.engine.controller_registry import REGISTRY, Registry
from seatrial.scenario.engine.participants import Participant
from seatrial.scenario.status import Publisher, ResultsStrategy
from seatrial.scheduler import Recorder
from seatrial.timeline import CELLS_ON_THE_WIRE, Level

if TYPE_CHECKING:
    from seatrial.scenario.scenario_run import ScenarioRun
    from seatrial.scheduler.config import Configuration
    from seatrial.scheduler.extender import InterruptibleAttempts
    from seatrial.volcano.config import SchedulerConf

TieBreak = Literal["upstream", "name", "random"]
MakeOutside = Callable[["ScenarioRun"], Participant]


@dataclass(frozen=True, slots=True)
class SimulationOptions:
    """Options of a simulation run; the defaults are those of `seatrial run`."""

    level: Level = "full"
    cells: int = CELLS_ON_THE_WIRE
    full_repeat: bool = False
    """Whether an entry of the timeline repeats the pod's attempts of earlier steps whole."""
    drain: bool = False
    max_loops: int | None = None
    strategy: ResultsStrategy = ResultsStrategy.AT_MOVING_NEXT_STEP
    snapshot: Sequence[Document] = ()
    registry: Registry = field(default_factory=lambda: REGISTRY)
    seed: int = 0
    """Seed of uids and of random ties."""
    tie_break: TieBreak = "upstream"
    scheduler_config: "Configuration | None" = None
    """The configuration of kube-scheduler; None for the default one."""
    plugins: Sequence[type[Any]] = ()
    """Out-of-tree plugins, which run where the configuration enables them."""
    volcano_config: "SchedulerConf | None" = None
    """The configuration of Volcano's scheduler; None for the one of its Helm chart."""
    reports_events: bool | None = None
    """Whether the schedulers create Event objects, which no result needs; None: where the level is `full`."""
    memory: int | None = None
    """Bytes that the objects of the scenario may take, by an estimate; None is no limit."""
    outside: Mapping[str, MakeOutside] = field(default_factory=dict)
    """Controllers that run outside this process, by name."""
    recorder: Callable[[Recorder], Recorder] | None = None
    """Wraps the timeline: receives the decisions of the scheduler."""
    attempts: "InterruptibleAttempts | None" = None
    """Lets a scheduler with extenders return to its caller while it waits for one."""
    has_scheduler: bool = True
    """Whether the embedded scheduler may be used."""
    observers: Sequence[Publisher] = ()
    """Receive every change of the status."""

    @property
    def events(self) -> bool:
        """Whether the schedulers create Event objects."""
        return self.level == "full" if self.reports_events is None else self.reports_events
