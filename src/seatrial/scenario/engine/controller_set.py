"""Runs the pre-simulation controllers round-robin until all their queues are empty.

Each controller processes one work item per round, a repeatable form of "in parallel". Where a waiter is not satisfied
although no controller has work, the inner timers that it waits for fire first.
"""

from collections.abc import Callable, Iterator, Sequence, Sized
from itertools import compress
from typing import Protocol, runtime_checkable

from seatrial.clock import Clock
from seatrial.model.errors import SeatrialError
from seatrial.scenario.engine.loop_limits import LoopCount
from seatrial.scenario.engine.participants import Awaited, Participant, waiters_of

LIFECYCLE = frozenset({"pod", "node", "poddisruptionbudget", "resourcequota"})
"""The controllers that run while the first version schedules: binding has its effects, no workload is created."""


_UNKNOWN = (None,)


@runtime_checkable
class Transparent(Protocol):
    """A controller that has no work and waits for nothing while its backlogs (always the same ones) are empty."""

    def backlogs(self) -> Sequence[Sized]: ...


class PreSimulationControllers:
    """Controllers that run together until all are idle."""

    def __init__(self, controllers: Sequence[Participant]) -> None:
        signs = [sign for controller in controllers for sign in _signs(controller)]
        self._signs = [backlog for backlog, _ in signs]
        self._signed = [controller for _, controller in signs]
        self._waiters = waiters_of(controllers)
        self._awaited = awaited_of(controllers)
        self._backlogs = backlogs_of(controllers)

    def is_at_rest(self) -> bool:
        """Whether all backlogs are empty, so that no controller need be called; this holds after most loops."""
        return self._backlogs is not None and not any(self._backlogs)

    def busy(self) -> list[Participant]:
        """The controllers that have work."""
        if self.is_at_rest():
            return []
        called = {id(controller): controller for controller in compress(self._signed, self._signs)}
        return [controller for controller in called.values() if controller.has_work()]

    def is_awaited(self) -> bool:
        """Whether the turn of a program outside this process still goes on."""
        return any(controller.is_waiting() for controller in self._awaited)

    def waiting(self) -> list[str]:
        """The names of the controllers whose waiter is not satisfied."""
        return [] if self.is_at_rest() else [waiter.name for waiter in self._waiters if not waiter.wait_condition()]


def _signs(controller: Participant) -> list[tuple[Sized, Participant]]:
    """The backlogs that show whether a controller may have work; one that is never empty: `has_work` must be called."""
    return [
        (backlog, controller)
        for backlog in (controller.backlogs() if isinstance(controller, Transparent) else [_UNKNOWN])
    ]


class SimulationControllers:
    """The controllers of one run, in a fixed order."""

    def __init__(self, preparing: Sequence[Participant], simulated: Sequence[Participant]) -> None:
        self.preparing = list(preparing)
        self.simulated = list(simulated)
        self.awaited = awaited_of((*self.preparing, *self.simulated))
        self.is_waiting = False
        """Whether only programs outside this process have work, so that the caller may sleep until they wake it."""
        self._all = PreSimulationControllers(self.preparing)
        self._lifecycle = PreSimulationControllers(
            [controller for controller in self.preparing if controller.name in LIFECYCLE]
        )

    def start(self) -> None:
        started: list[Participant] = []
        try:
            for controller in (*self.preparing, *self.simulated):
                controller.start()
                started.append(controller)
        except SeatrialError:
            for controller in reversed(started):
                controller.stop()
            raise

    def stop(self) -> None:
        for controller in (*self.simulated, *self.preparing):
            controller.stop()

    def is_at_rest(self, *, all_controllers: bool) -> bool:
        """Whether `settle` has nothing to do, by the backlogs alone."""
        return (self._all if all_controllers else self._lifecycle).is_at_rest()

    def settle(
        self,
        clock: Clock,
        loops: LoopCount,
        operations: Callable[[], int],
        *,
        all_controllers: bool,
        warn: Callable[[str], None],
    ) -> Iterator[None]:
        """Run the pre-simulation controllers until none has work; `all_controllers` false: only those in LIFECYCLE."""
        controllers = self._all if all_controllers else self._lifecycle
        while not controllers.is_at_rest():
            yield from self._take_turns(controllers, loops, operations)
            if controllers.is_awaited():
                yield from self.wait()
                continue
            waiting = controllers.waiting()
            if not waiting:
                return
            if not clock.fire_next(outer=False):
                warn(f"nothing is left to do, though {', '.join(waiting)} waits for more")
                return
            loops.loop()

    def wait(self) -> Iterator[None]:
        """Yield once with `is_waiting` set."""
        self.is_waiting = True
        yield
        self.is_waiting = False

    @staticmethod
    def _take_turns(
        controllers: PreSimulationControllers, loops: LoopCount, operations: Callable[[], int]
    ) -> Iterator[None]:
        while busy := controllers.busy():
            before = operations()
            for controller in busy:
                controller.work()
            if operations() != before:
                loops.loop()
            else:
                loops.turn()
            yield


def awaited_of(controllers: Sequence[Participant]) -> list[Awaited]:
    """The participants that work outside this process."""
    return [controller for controller in controllers if isinstance(controller, Awaited)]


def backlogs_of(controllers: Sequence[Participant]) -> list[Sized] | None:
    """The backlogs of all controllers; None where one of them has none to show."""
    found: list[Sized] = []
    for controller in controllers:
        if not isinstance(controller, Transparent):
            return None
        found += controller.backlogs()
    return found
