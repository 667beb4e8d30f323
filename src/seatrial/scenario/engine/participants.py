"""The interfaces of controllers in a scenario: pre-simulation ones, and simulated ones with the scheduler among them.

All of them are cooperative: `work` carries out one loop and returns. Whether work is left is therefore known, and a
waiter (KEP-140's ControllerWaiter) only adds what a controller still waits for in virtual time.
"""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable


class Participant(Protocol):
    """A controller as the engine drives it; see `controllers.framework.controller.Controller`."""

    @property
    def name(self) -> str: ...
    def start(self) -> None: ...
    def has_work(self) -> bool: ...
    def work(self) -> bool:
        """Carry out one loop; whether anything was done."""
        ...

    def stop(self) -> None: ...


@runtime_checkable
class ControllerWaiter(Protocol):
    """KEP-140: knows when a cluster state is converged by a controller."""

    @property
    def name(self) -> str: ...

    def wait_condition(self) -> bool:
        """Whether the controller cannot do anything in this cluster state."""


@runtime_checkable
class Sweeper(Protocol):
    """A controller that can retry everything pending."""

    def sweep(self) -> None: ...


@runtime_checkable
class Awaited(Protocol):
    """A participant that works outside this process: its turn goes on after `work` has returned."""

    def is_ready(self) -> bool:
        """Whether it follows the cluster; ScenarioError where its program has failed."""

    def is_waiting(self) -> bool:
        """Whether its turn still goes on; ScenarioError where its program has failed."""


class SchedulerLoop(Protocol):
    """The part of a scheduler that the engine needs."""

    def start(self) -> None: ...
    def stop(self) -> None: ...
    def has_work(self) -> bool: ...
    def schedule_one(self) -> Any: ...
    def sweep(self) -> None: ...
    def profile_names(self) -> Sequence[str]:
        """The values of schedulerName whose pods it takes."""

    def warnings(self) -> Sequence[str]:
        """What is probably a mistake in its configuration."""


class SchedulerParticipant:
    """A scheduler as a participant: one loop is one scheduling attempt with its binding or preemption."""

    def __init__(self, scheduler: SchedulerLoop, name: str = "scheduler") -> None:
        self.name = name
        self.scheduler = scheduler

    def start(self) -> None:
        self.scheduler.start()

    def stop(self) -> None:
        self.scheduler.stop()

    def has_work(self) -> bool:
        return self.scheduler.has_work()

    def work(self) -> bool:
        return self.scheduler.schedule_one() is not None

    def sweep(self) -> None:
        self.scheduler.sweep()

    def wait_condition(self) -> bool:
        return not self.scheduler.has_work()


@runtime_checkable
class InterruptibleScheduler(SchedulerLoop, Protocol):
    """A scheduler whose `schedule_one` returns before the end of an attempt that waits for an answer from outside."""

    @property
    def is_waiting(self) -> bool:
        """Whether an attempt waits; `schedule_one` goes on with it."""

    @property
    def can_go_on(self) -> bool:
        """Whether the attempt that waits has its answer."""


class InterruptibleParticipant(SchedulerParticipant):
    """A scheduler with extenders in a server: requests are served while it waits for an extender."""

    scheduler: InterruptibleScheduler

    def is_ready(self) -> bool:
        return True

    def is_waiting(self) -> bool:
        """Whether the attempt still waits; one that has its answer goes on first."""
        while self.scheduler.can_go_on:
            self.scheduler.schedule_one()
        return self.scheduler.is_waiting


def participant_of(scheduler: SchedulerLoop) -> SchedulerParticipant:
    """A scheduler as the participant that its attempts need."""
    kind = InterruptibleParticipant if isinstance(scheduler, InterruptibleScheduler) else SchedulerParticipant
    return kind(scheduler)


def waiters_of(controllers: Sequence[Participant]) -> list[ControllerWaiter]:
    """The controllers that implement ControllerWaiter."""
    return [controller for controller in controllers if isinstance(controller, ControllerWaiter)]
