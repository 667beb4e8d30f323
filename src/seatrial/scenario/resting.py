"""The company of actors: who prepares, who is simulated, and how the preparing ones come to rest.

Pre-simulation controllers take turns, one work item each, until none has any: that is "in parallel" made repeatable.
Where a waiter is not satisfied although nobody has work, the delays it waits for (inner timers) run out first.
"""

from collections.abc import Callable, Iterator, Sequence

from seatrial.clock.virtual import Clock
from seatrial.scenario.actors import Actor, waiters_of
from seatrial.scenario.limits import LoopCount

LIFECYCLE = frozenset({"pod", "node", "poddisruptionbudget", "resourcequota"})
"""What goes on in the cluster while the first version schedules: binding has its effects, nobody creates anything."""


class Company:
    """The actors of one run, in fixed order."""

    def __init__(self, preparing: Sequence[Actor], simulated: Sequence[Actor]) -> None:
        self.preparing = list(preparing)
        self.simulated = list(simulated)
        self.lifecycle = [actor for actor in self.preparing if actor.name in LIFECYCLE]
        self._waiters = waiters_of(self.preparing)
        self._lifecycle_waiters = waiters_of(self.lifecycle)

    def start(self) -> None:
        for actor in (*self.preparing, *self.simulated):
            actor.start()

    def stop(self) -> None:
        for actor in (*self.simulated, *self.preparing):
            actor.stop()

    def settle(
        self,
        clock: Clock,
        loops: LoopCount,
        operations: Callable[[], int],
        *,
        everybody: bool,
        warn: Callable[[str], None],
    ) -> Iterator[None]:
        """Let the preparing actors work until nobody can do anything; `everybody` false: lifecycle only."""
        actors = self.preparing if everybody else self.lifecycle
        waiters = self._waiters if everybody else self._lifecycle_waiters
        while True:
            yield from self._take_turns(actors, loops, operations)
            waiting = [waiter.name for waiter in waiters if not waiter.wait_condition()]
            if not waiting:
                return
            if not clock.fire_next(outer=False):
                warn(f"nothing is left to do, though {', '.join(waiting)} waits for more")
                return
            loops.loop()

    @staticmethod
    def _take_turns(actors: Sequence[Actor], loops: LoopCount, operations: Callable[[], int]) -> Iterator[None]:
        busy = [actor for actor in actors if actor.has_work()]
        while busy:
            before = operations()
            for actor in busy:
                actor.work()
            if operations() != before:
                loops.loop()
            else:
                loops.turn()
            yield
            busy = [actor for actor in actors if actor.has_work()]
