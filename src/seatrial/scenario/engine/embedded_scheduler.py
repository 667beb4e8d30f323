"""Makes the scheduler of a run: the embedded kube-scheduler with a configuration."""

from typing import TYPE_CHECKING, Any

from seatrial.clock import Clock
from seatrial.scheduler import Recorder, Scheduler
from seatrial.scheduler.extender import AwaitingAnswer, HttpTransport, InterruptibleAttempts, TurnTransport
from seatrial.store import Store

if TYPE_CHECKING:
    from seatrial.scenario.options import SimulationOptions
    from seatrial.scheduler import Decision


class InterruptibleScheduler(Scheduler):
    """A scheduler whose attempts return while they wait for an extender; implements the participant's protocol."""

    def __init__(self, attempts: InterruptibleAttempts, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, transport=TurnTransport(HttpTransport(), attempts.turns), **kwargs)
        self._attempts = attempts

    @property
    def is_waiting(self) -> bool:
        return self._attempts.turns.is_waiting

    @property
    def can_go_on(self) -> bool:
        return self._attempts.turns.can_go_on

    def has_work(self) -> bool:
        return not self._attempts.waits_for(self) and super().has_work()

    def schedule_one(self) -> "Decision | None":
        """Make an attempt, or go on with the one that waits; None while it waits."""
        made = self._attempts.run(self, super().schedule_one)
        return None if isinstance(made, AwaitingAnswer) else made


def build_scheduler(store: Store, clock: Clock, recorder: Recorder, options: "SimulationOptions") -> Scheduler:
    """The scheduler of a run."""
    configuration, attempts = options.scheduler_config, options.attempts
    settings: dict[str, Any] = {
        "recorder": recorder if options.recorder is None else options.recorder(recorder),
        "tie_break": options.tie_break,
        "seed": options.seed,
        "plugins": options.plugins,
        "events": options.events,
    }
    if attempts is not None and configuration is not None and configuration.extenders:
        return InterruptibleScheduler(attempts, store, clock, configuration, **settings)
    return Scheduler(store, clock, configuration, **settings)
