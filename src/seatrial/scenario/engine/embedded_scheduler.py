"""Makes the scheduler of a run: the embedded kube-scheduler with a configuration."""

from collections.abc import Sequence
from typing import Any, Literal

from seatrial.clock import Clock
from seatrial.scenario.engine.participants import SchedulerLoop
from seatrial.scenario.simulation import MakeScheduler
from seatrial.scheduler import Recorder, Scheduler
from seatrial.scheduler.config import Configuration
from seatrial.store import Store

TieBreak = Literal["upstream", "name", "random"]


def scheduler_maker(
    configuration: Configuration | None = None,
    *,
    tie_break: TieBreak = "upstream",
    seed: int = 0,
    plugins: Sequence[type[Any]] = (),
    events: bool = True,
) -> MakeScheduler:
    """A factory of equal schedulers; `events` false omits Event objects, which no result needs."""

    def make(store: Store, clock: Clock, recorder: Recorder) -> SchedulerLoop:
        return Scheduler(
            store,
            clock,
            configuration,
            recorder=recorder,
            tie_break=tie_break,
            seed=seed,
            plugins=plugins,
            events=events,
        )

    return make
