"""Adds Volcano to a scenario that names it among its controllers: its kinds, controllers and scheduler.

The Volcano room is imported only for such a scenario, so that other runs start without it.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from seatrial.clock import Clock
from seatrial.scenario.engine.participants import Participant
from seatrial.store import Store
from seatrial.timeline import Timeline

if TYPE_CHECKING:
    from seatrial.scenario.options import SimulationOptions
    from seatrial.volcano import VolcanoScheduler

VOLCANO = "volcano"
MakeVolcano = Callable[[], tuple[Participant, Participant]]
"""Makes the scheduler and the controllers."""


def volcano_of(participants: Iterable[Participant]) -> "VolcanoScheduler | None":
    """Volcano's scheduler among the participants of a run."""
    named = [each for each in participants if each.name == VOLCANO]
    if not named:
        return None
    from seatrial.volcano import VolcanoScheduler

    return next((each for each in named if isinstance(each, VolcanoScheduler)), None)


def volcano_maker(
    store: Store, clock: Clock, timeline: Timeline, options: "SimulationOptions", *, outer: bool
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
            options.volcano_config,
            recorder=timeline,
            notes=timeline,
            tie_break=options.tie_break,
            seed=options.seed,
            events=options.events,
            outer=outer,
        )
        return scheduler, build_controllers(store, clock)

    return make
