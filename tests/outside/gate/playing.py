"""Plays a scenario with toy programs, through the real server, gate and processes."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from seatrial.clock.virtual import Clock
from seatrial.control_plane.hosted_run import HostedRun
from seatrial.outside.configuration import OutsideController
from seatrial.scenario.cluster import fresh_store
from seatrial.scenario.engine.controller_registry import Registry
from seatrial.scenario.engine.embedded_scheduler import scheduler_maker
from seatrial.scenario.simulation import ScenarioRun, SimulationOptions
from seatrial.scenario.status import ScenarioStatus
from seatrial.store.objects import Change
from tests.scenario.playing import scenario

TOYS = Path(__file__).parent / "toys"


def toy(name: str, program: str, *, timeout: str = "20s", **environment: Any) -> OutsideController:
    """A toy program as a controller; the rest sets its environment or the controller's fields."""
    fields = {key: environment.pop(key) for key in list(environment) if key in OutsideController.__struct_fields__}
    settings = [f"{key}={value}" for key, value in environment.items()]
    command = ("/usr/bin/env", *settings, sys.executable, str(TOYS / f"{program}.py"))
    return OutsideController(name, command, timeout=timeout, **fields)


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
        clock = Clock()
        self.store = fresh_store(clock)
        maker = scheduler_maker(events=False)
        make_model = (lambda run: maker(run.store, run.clock, run.timeline)) if model else None
        host = HostedRun(self.store, controllers, folder / "credentials", folder / "logs", make_model)
        options = SimulationOptions(registry=Registry(), max_loops=max_loops)
        options = replace(options, outside=host.controllers.makers(), observers=[host.cooperation, self])
        self.run = ScenarioRun(scenario(spec), self.store, clock, maker, options)
        self.store.subscribe(self._note)
        self.programs: list[int] = []
        host.drive(self.run, lambda: self._tick(host))
        self.host = host

    def _tick(self, host: HostedRun) -> None:
        for participant in host.controllers.playing.values():
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
        return document["status"]["scenarioResult"]["timeline"][str(step)]

    def created(self, kind: str, step: int) -> list[tuple[str, Any]]:
        """Name and step of the objects that were created in a major step."""
        results = [(entry.get("create", {}).get("result", {}), entry["step"]) for entry in self.entries(step)]
        return [(result["metadata"]["name"], at) for result, at in results if result.get("kind") == kind]

    def bound(self) -> dict[str, str]:
        pods = self.store.kinds.named("v1", "Pod")
        found = {p.name: p.document()["spec"].get("nodeName", "") for p in self.store.list(pods)}
        return dict(sorted(found.items()))
