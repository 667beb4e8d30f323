"""Plays a scenario with toy programs, through the real server, gate and processes."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from seatrial.outside.configuration import OutsideController
from seatrial.outside.program import Program
from seatrial.scenario.engine.controller_registry import Registry
from seatrial.scenario.options import SimulationOptions
from seatrial.scenario.scenario_run import ScenarioRun
from seatrial.scenario.status import ScenarioStatus
from seatrial.simulation import Programs, Simulation
from seatrial.store.objects import Change
from tests.known_kinds import known_kind
from tests.scenario.playing import scenario

ROOT = Path(__file__).parents[3]


def toy(name: str, program: str, *, timeout: str = "20s", **environment: Any) -> OutsideController:
    """A toy program as a controller; the rest sets its environment or the controller's fields."""
    fields = {key: environment.pop(key) for key in list(environment) if key in OutsideController.__struct_fields__}
    return OutsideController(name, toy_command(program, **environment), timeout=timeout, **fields)


def toy_command(program: str, **environment: Any) -> tuple[str, ...]:
    """Runs a toy program as a module of the tests, with these variables in its environment."""
    settings = [f"{key}={value}" for key, value in {"PYTHONPATH": ROOT, **environment}.items()]
    return "/usr/bin/env", *settings, sys.executable, "-m", f"tests.outside.gate.toys.{program}"


def no_program(controller: OutsideController, ended: Callable[[], None]) -> Program:
    """In place of a launcher where no controller has a command."""
    raise AssertionError(f"{controller.name} has no program")


class Played:
    """A scenario that was played, and a log of every status and write on the way."""

    def __init__(
        self,
        spec: dict[str, Any],
        folder: Path,
        *controllers: OutsideController,
        model: bool = False,
        max_loops: int | None = None,
    ) -> None:
        self.log: list[Any] = []
        self.programs: list[int] = []
        options = SimulationOptions(registry=Registry(), max_loops=max_loops, reports_events=False, observers=[self])
        programs = Programs(controllers, model, folder / "logs")
        self.simulation = Simulation(scenario(spec), options, programs=programs)
        assert self.simulation.host is not None
        self.run, self.store, self.host = self.simulation.scenario_run, self.simulation.store, self.simulation.host
        self.store.subscribe(self._note)
        self.simulation.play(self._tick)

    def _tick(self, run: ScenarioRun) -> None:
        for participant in self.host.controllers.playing.values():
            program = participant._program
            if program is not None and program.pid not in self.programs:
                self.programs.append(program.pid)

    def publish(self, status: ScenarioStatus) -> None:
        self.log.append(
            (status.major, status.minor, status.step_phase.name if status.step_phase else "", status.running)
        )

    def _note(self, change: Change) -> None:
        what = f"{change.stored.kind.kind} {change.stored.name} {change.subresource}"
        self.log.append(f"{change.writer} {change.type} {what}")

    @property
    def phase(self) -> str:
        return self.run.status.phase

    @property
    def message(self) -> str:
        return self.run.status.message

    def entries(self, step: int) -> list[dict[str, Any]]:
        document = orjson.loads(b"".join(self.run.parts()))
        found: list[dict[str, Any]] = document["status"]["scenarioResult"]["timeline"][str(step)]
        return found

    def created(self, kind: str, step: int) -> list[tuple[str, Any]]:
        """Name and step of the objects that were created in a major step."""
        results = [(entry.get("create", {}).get("result", {}), entry["step"]) for entry in self.entries(step)]
        return [(result["metadata"]["name"], at) for result, at in results if result.get("kind") == kind]

    def bound(self) -> dict[str, str]:
        pods = known_kind(self.store.kinds, "v1", "Pod")
        found = {p.name: p.document()["spec"].get("nodeName", "") for p in self.store.list(pods)}
        return dict(sorted(found.items()))
