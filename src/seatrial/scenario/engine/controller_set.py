"""The company of actors: who prepares, who is simulated, and how the preparing ones come to rest.

Pre-simulation controllers take turns, one work item each, until none has any: that is "in parallel" made repeatable.
Where a waiter is not satisfied although nobody has work, the delays it waits for (inner timers) run out first.
"""

from collections.abc import Callable, Iterator, Sequence, Sized
from typing import Protocol, runtime_checkable

from seatrial.clock.virtual import Clock
from seatrial.model.errors import SeatrialError
from seatrial.scenario.engine.loop_limits import LoopCount
from seatrial.scenario.engine.participants import Awaited, Participant, waiters_of

LIFECYCLE = frozenset({"pod", "node", "poddisruptionbudget", "resourcequota"})
"""What goes on in the cluster while the first version schedules: binding has its effects, nobody creates anything."""


@runtime_checkable
class Transparent(Protocol):
    """An actor that has nothing to do and waits for nothing while its backlogs, the same all its life, are empty."""

    def backlogs(self) -> Sequence[Sized]: ...


class PreSimulationControllers:
    """Actors who come to rest together."""

    def __init__(self, actors: Sequence[Participant]) -> None:
        self._signs = [sign for actor in actors for sign in _signs(actor)]
        self._waiters = waiters_of(actors)
        self._awaited = awaited_of(actors)
        self._backlogs = backlogs_of(actors)

    def is_at_rest(self) -> bool:
        """Whether a glance tells that there is nothing to do and nothing to wait for; it is so after most loops."""
        return self._backlogs is not None and not any(self._backlogs)

    def busy(self) -> list[Participant]:
        """Who has something to do."""
        if self.is_at_rest():
            return []
        called = {id(actor): actor for backlog, actor in self._signs if backlog is None or backlog}
        return [actor for actor in called.values() if actor.has_work()]

    def is_awaited(self) -> bool:
        """Whether the turn of a program outside this process still goes on."""
        return any(actor.is_waiting() for actor in self._awaited)

    def waiting(self) -> list[str]:
        """Who waits for something."""
        return [] if self.is_at_rest() else [waiter.name for waiter in self._waiters if not waiter.wait_condition()]


def _signs(actor: Participant) -> list[tuple[Sized | None, Participant]]:
    """What tells that an actor may have something to do; None: it must be asked."""
    return [(backlog, actor) for backlog in (actor.backlogs() if isinstance(actor, Transparent) else [None])]


class SimulationControllers:
    """The actors of one run, in fixed order."""

    def __init__(self, preparing: Sequence[Participant], simulated: Sequence[Participant]) -> None:
        self.preparing = list(preparing)
        self.simulated = list(simulated)
        self.awaited = awaited_of((*self.preparing, *self.simulated))
        self.is_waiting = False
        """Whether only programs outside this process have work, so that the caller may sleep until it is woken."""
        self._everybody = PreSimulationControllers(self.preparing)
        self._lifecycle = PreSimulationControllers([actor for actor in self.preparing if actor.name in LIFECYCLE])

    def start(self) -> None:
        started: list[Participant] = []
        try:
            for actor in (*self.preparing, *self.simulated):
                actor.start()
                started.append(actor)
        except SeatrialError:
            for actor in reversed(started):
                actor.stop()
            raise

    def stop(self) -> None:
        for actor in (*self.simulated, *self.preparing):
            actor.stop()

    def is_at_rest(self, *, everybody: bool) -> bool:
        """Whether a glance tells that `settle` has nothing to do."""
        return (self._everybody if everybody else self._lifecycle).is_at_rest()

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
        troupe = self._everybody if everybody else self._lifecycle
        while True:
            yield from self._take_turns(troupe, loops, operations)
            if troupe.is_awaited():
                yield from self.wait()
                continue
            waiting = troupe.waiting()
            if not waiting:
                return
            if not clock.fire_next(outer=False):
                warn(f"nothing is left to do, though {', '.join(waiting)} waits for more")
                return
            loops.loop()

    def wait(self) -> Iterator[None]:
        """Return to the caller once, and let it sleep."""
        self.is_waiting = True
        yield
        self.is_waiting = False

    @staticmethod
    def _take_turns(
        troupe: PreSimulationControllers, loops: LoopCount, operations: Callable[[], int]
    ) -> Iterator[None]:
        while busy := troupe.busy():
            before = operations()
            for actor in busy:
                actor.work()
            if operations() != before:
                loops.loop()
            else:
                loops.turn()
            yield


def awaited_of(actors: Sequence[Participant]) -> list[Awaited]:
    """The participants that work outside this process."""
    return [actor for actor in actors if isinstance(actor, Awaited)]


def backlogs_of(actors: Sequence[Participant]) -> list[Sized] | None:
    """All that these actors may have to do; None where one of them must be asked."""
    found: list[Sized] = []
    for actor in actors:
        if not isinstance(actor, Transparent):
            return None
        found += actor.backlogs()
    return found
