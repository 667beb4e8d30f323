"""Makes the scheduler of a run: the embedded kube-scheduler with a configuration."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from seatrial.clock import Clock
from seatrial.scheduler import Recorder, Scheduler
from seatrial.scheduler.config import Configuration
from seatrial.scheduler.extender import AwaitingAnswer, HttpTransport, InterruptibleAttempts, TurnTransport
from seatrial.store import Store

if TYPE_CHECKING:
    from seatrial.scenario.options import TieBreak
    from seatrial.scheduler import Decision


MakeEmbedded = Callable[[Store, Clock, Recorder], Scheduler]


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


def scheduler_maker(
    configuration: Configuration | None = None,
    *,
    tie_break: "TieBreak" = "upstream",
    seed: int = 0,
    plugins: Sequence[type[Any]] = (),
    events: bool = True,
    attempts: InterruptibleAttempts | None = None,
) -> MakeEmbedded:
    """A factory of equal schedulers; `events` false omits Event objects, which no result needs.

    With `attempts`, a scheduler that has extenders does not block its caller while it waits for one.
    """

    def make(store: Store, clock: Clock, recorder: Recorder) -> Scheduler:
        settings: dict[str, Any] = {
            "recorder": recorder, "tie_break": tie_break, "seed": seed, "plugins": plugins, "events": events,
        }  # fmt: skip
        if attempts is not None and configuration is not None and configuration.extenders:
            return InterruptibleScheduler(attempts, store, clock, configuration, **settings)
        return Scheduler(store, clock, configuration, **settings)

    return make
