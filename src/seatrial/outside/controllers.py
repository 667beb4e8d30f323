"""All outside controllers of a server: the gate that knows them by their user, and the participants of a scenario."""

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from seatrial.model.errors import ConfigError
from seatrial.outside.configuration import OutsideController, with_kubeconfig
from seatrial.outside.idle import Idle, Interval, Quiet, Verdicts, Waiter
from seatrial.outside.model_check import ModelCheck
from seatrial.outside.order import Order
from seatrial.outside.participant import OutsideParticipant, OutsideScheduler, Parts
from seatrial.outside.pods import PendingPods
from seatrial.outside.program import Program
from seatrial.outside.requests import PODS, is_explanation
from seatrial.outside.scheduling import Scheduling
from seatrial.outside.session import Phase, Session
from seatrial.outside.startup import Startup
from seatrial.scenario.engine import Cluster, simulated_names
from seatrial.scenario.spec.kind import Controllers
from seatrial.scheduler import ANNOTATOR
from seatrial.scheduler.plugins import load_module
from seatrial.server import Target
from seatrial.server.extension_points import Gate, OpenWatch
from seatrial.server.messages import Request
from seatrial.store import User

if TYPE_CHECKING:
    from seatrial.scenario import MakeOutside, ScenarioRun

Launch = Callable[[OutsideController, Callable[[], None]], Program]
"""Starts the program of a controller with a kubeconfig of its own."""


class OutsideControllers(Gate):
    """The gate for requests of outside controllers, and the maker of their participants."""

    def __init__(self, controllers: Iterable[OutsideController], launch: Launch, *, explain: bool = False) -> None:
        """`explain`: the embedded scheduler explains the decisions of an outside one."""
        self.controllers = tuple(controllers)
        self.wake: Callable[[], None] = lambda: None
        """Set by the process that plays scenarios: called when a turn is over."""
        self.sessions = {controller.name: Session() for controller in self.controllers}
        self.playing: dict[str, OutsideParticipant] = {}
        """The participants of the scenario that is being played."""
        self._names = {controller.username: controller.name for controller in self.controllers}
        self._launch, self._explain = launch, explain
        self._stopped: list[Program] = []
        for controller in self.controllers:
            if controller.waiter:
                _load_waiter(controller)

    # -- the gate ------------------------------------------------------------------------------------------------------

    def name_of(self, user: User) -> str | None:
        """The controller that a user is."""
        return self._names.get(user.name)

    async def enter(self, request: Request, target: Target) -> None:
        name = self.name_of(request.user)
        if name is None:
            return
        session = self.sessions[name]
        await session.enter(request, target)
        if session.phase is not Phase.FREE:
            writer = ANNOTATOR if is_explanation(request, target) else name
            request.user = replace(request.user, acts_as=writer)

    def left(self, request: Request, target: Target) -> None:
        name = self.name_of(request.user)
        if name is not None:
            self.sessions[name].leave(request, target)

    def watching(self, request: Request, target: Target, watch: OpenWatch) -> None:
        name = self.name_of(request.user)
        if name is not None:
            self.sessions[name].watch(request, watch)

    async def deliver(self, request: Request, target: Target) -> None:
        name = self.name_of(request.user)
        if name is not None:
            await self.sessions[name].watches.deliver(request)

    def real_times(self) -> dict[str, dict[str, float | int | None]]:
        """What each scheduler took in real time: decisions, their p50 and p99 in seconds, and CPU of its process."""
        found: dict[str, dict[str, float | int | None]] = {}
        for name, participant in self.playing.items():
            if seconds := sorted(participant.decision_seconds):
                p50, p99 = (seconds[max(0, math.ceil(share * len(seconds)) - 1)] for share in (0.5, 0.99))
                cpu = participant.cpu_seconds
                found[name] = {"decisions": len(seconds), "p50": p50, "p99": p99, "cpuSeconds": cpu}
        return found

    def wait_stopped(self) -> None:
        """Wait until every program of a scenario that is over has ended."""
        while self._stopped:
            self._stopped.pop().wait()

    # -- participants --------------------------------------------------------------------------------------------------

    def makers(self) -> "dict[str, MakeOutside]":
        """How a scenario gets its outside participants, by name."""
        return {controller.name: partial(self._make, controller) for controller in self.controllers}

    def _make(self, controller: OutsideController, run: "ScenarioRun") -> OutsideParticipant:
        session = self.sessions[controller.name]
        chosen = Controllers.of(run.document)
        is_simulated = controller.name in simulated_names(chosen, run.plan.dialect)
        pods = scheduling = None
        if controller.is_scheduler:
            pods = PendingPods(run.store, controller.responsible_for, lambda: session.changed())
            model = ModelCheck(run.make_scheduler(), run.timeline, run.status) if self._explain else None
            scheduling = Scheduling(run.store, run.timeline, session, pods, model)
            run.timeline.schedulers.add(controller.name)
        session.use_order(Order(pods) if is_simulated else None)
        session.flushes = pods is not None
        make = OutsideScheduler if scheduling is not None else OutsideParticipant
        participant = self.playing[controller.name] = make(
            Parts(
                controller=controller,
                session=session,
                store=run.store,
                idle=_idle(controller, session, run, pods, scheduling),
                startup=Startup(session, _needed(controller, run)),
                pods=pods,
                scheduling=scheduling,
                one_by_one=is_simulated,
                wake=lambda: self.wake(),
                launch=partial(self._launch, controller) if controller.command else None,
                stopped=self._stopped.append,
                note=partial(_note, run.status.notes, f"outside {controller.name}"),
            )
        )
        return participant


def _note(notes: dict[str, str], key: str, text: str) -> None:
    notes.pop(key, None)
    if text:
        notes[key] = text


def _idle(
    controller: OutsideController,
    session: Session,
    run: "ScenarioRun",
    pods: PendingPods | None,
    scheduling: Scheduling | None,
) -> Idle:
    if pods is not None and scheduling is not None:
        return Verdicts(pods, scheduling.explaining)
    if controller.waiter:
        condition = _load_waiter(controller)
        cluster = Cluster(run.store, run.clock, controller.name)
        return Waiter(session, lambda: bool(condition(cluster)))
    if controller.rhythm:
        return Interval(session, controller.interval_seconds, run.clock.now)
    return Quiet(session, controller.quiet_seconds)


def _needed(controller: OutsideController, run: "ScenarioRun") -> frozenset[tuple[str, str]]:
    """The kinds that the program must watch before the scenario begins."""
    found = set()
    for watched in controller.watches:
        api_version, _, kind = watched.rpartition("/")
        known = run.store.kinds.named(api_version, kind)
        if known is None:
            raise ConfigError("", f"controller {controller.name}: watches", f"there is no kind {watched}")
        found.add(known.group_kind)
    return frozenset(found or ({PODS} if controller.is_scheduler else ()))


def _load_waiter(controller: OutsideController) -> Callable[[Cluster], bool]:
    where = f"controller {controller.name}: waiter"
    path, _, name = controller.waiter.rpartition(":")
    if not path or not name:
        raise ConfigError("", where, f"expected FILE.py:function, got {controller.waiter!r}")
    found = getattr(load_module(path), name, None)
    if not callable(found):
        raise ConfigError("", where, f"there is no function {name} in {path}")
    waiter: Callable[[Cluster], bool] = found
    return waiter


def launcher(kubeconfig: Callable[[OutsideController], Path], logs: Path) -> Launch:
    """Starts programs with the kubeconfig that a server places for each, and keeps their output in a folder."""

    def launch(controller: OutsideController, ended: Callable[[], None]) -> Program:
        logs.mkdir(parents=True, exist_ok=True)
        path = kubeconfig(controller)
        command = with_kubeconfig(controller, path)
        return Program(command, path, logs / f"{controller.name}.log", ended)

    return launch
