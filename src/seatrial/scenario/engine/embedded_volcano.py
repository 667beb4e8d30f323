"""Adds Volcano to a scenario that names it among its controllers: its kinds, controllers and scheduler.

The Volcano room is imported only for such a scenario, so that other runs start without it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from seatrial.clock import Clock
from seatrial.scenario.engine.participants import Participant
from seatrial.scheduler import Recorder
from seatrial.store import Store

if TYPE_CHECKING:
    from seatrial.volcano.config import SchedulerConf

VOLCANO = "volcano"
MakeVolcano = Callable[[], tuple[Participant, Participant]]
"""Makes the scheduler and the controllers."""


@dataclass(frozen=True, slots=True)
class VolcanoSettings:
    """Settings of Volcano's scheduler."""

    conf: "SchedulerConf | None" = None
    tie_break: str = "name"
    seed: int = 0
    events: bool = False


def volcano_maker(
    store: Store, clock: Clock, recorder: Recorder, settings: VolcanoSettings, *, outer: bool
) -> MakeVolcano:
    """A factory of Volcano's parts; `outer`: sessions wait for time that the scenario lets pass between its steps."""
    from seatrial.volcano import VolcanoScheduler
    from seatrial.volcano.apis.installation import install
    from seatrial.volcano.controllers import build_controllers

    install(store)

    def make() -> tuple[Participant, Participant]:
        scheduler = VolcanoScheduler(
            store,
            clock,
            settings.conf,
            recorder=recorder,
            tie_break=settings.tie_break,
            seed=settings.seed,
            events=settings.events,
            outer=outer,
        )
        return scheduler, build_controllers(store, clock)

    return make
