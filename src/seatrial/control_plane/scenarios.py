"""Adds the scenario controller to `serve`, and suspends the real-time workers while a scenario runs."""

import secrets
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from seatrial.control_plane.memory import free_memory
from seatrial.control_plane.result_strategy import chosen_strategy
from seatrial.model.documents import Document

if TYPE_CHECKING:
    from seatrial.control_plane.components import Parts, Settings
    from seatrial.control_plane.scheduler import EmbeddedScheduler
    from seatrial.scenario import ScenarioController


class Startable(Protocol):
    """A worker that can be suspended."""

    def start(self) -> None: ...

    def stop(self) -> None: ...


class RealTimeWorkers:
    """The scheduler and the controllers that run in real time; they are suspended while a scenario runs."""

    def __init__(self, workers: Sequence[Startable]) -> None:
        self._workers = tuple(workers)

    def suspend(self) -> None:
        for worker in self._workers:
            worker.stop()

    def resume(self) -> None:
        for worker in self._workers:
            worker.start()


class WatchedScheduler:
    """The scheduler behind kube-scheduler-simulator's API: a change of configuration fails a running scenario."""

    def __init__(self, scheduler: "EmbeddedScheduler", controller: "ScenarioController") -> None:
        self._scheduler, self._controller = scheduler, controller
        self._first = scheduler.configuration()

    def configuration(self) -> Document:
        return self._scheduler.configuration()

    def expanded(self, configuration: Document) -> Document:
        return self._scheduler.expanded(configuration)

    def restart(self, configuration: Document) -> None:
        """Take another configuration, after failing a scenario that runs with the old one."""
        self._controller.configuration_changed()
        self._scheduler.restart(configuration)

    def reset(self) -> None:
        """Reset the server to its initial state."""
        self._controller.reset()
        self._scheduler.restart(self._first)


def add_scenarios(parts: "Parts", settings: "Settings", scheduler: "EmbeddedScheduler | None") -> "ScenarioController":
    """The scenario controller, which works on the server's loop like the others."""
    from seatrial.control_plane.outside_programs import add_outside
    from seatrial.control_plane.timeline_api import TimelineApi
    from seatrial.scenario import KeptTimelines, ScenarioController, SimulationOptions
    from seatrial.scenario.engine import load_controllers
    from seatrial.scheduler import BothRecorders
    from seatrial.scheduler.extender import InterruptibleAttempts, Turns
    from seatrial.scheduler.plugins import load_plugins
    from seatrial.timeline import Annotator
    from seatrial.volcano.config import read_conf

    load_controllers(settings.own_controllers)
    annotator = Annotator(parts.store, summary=settings.record == "summary")
    attempts = InterruptibleAttempts(Turns())

    workers: list[Any] = [worker for worker in parts.workers if worker is not scheduler]
    if scheduler is not None:
        workers.insert(0, scheduler.scheduler)
    options = SimulationOptions(
        level=settings.record,
        drain=settings.drain,
        strategy=chosen_strategy(),
        plugins=load_plugins(settings.plugins),
        recorder=None if settings.record == "none" else lambda recorder: BothRecorders(recorder, annotator),
        attempts=attempts,
        volcano_config=read_conf(settings.volcano_config, settings.volcano_version),
        reports_events=True,
        memory=free_memory(),
        has_scheduler=settings.scheduler,
        snapshot=parts.snapshot or (),
    )
    if settings.outside:
        options = add_outside(parts, settings, options)

    def chosen() -> SimulationOptions:
        return options if scheduler is None else replace(options, scheduler_config=scheduler.scheduler.configuration)

    folder = _timelines_folder(settings)
    timelines = KeptTimelines(folder)
    controller = ScenarioController(
        parts.store, RealTimeWorkers(workers), chosen, strict=settings.strict, timelines=timelines
    )
    attempts.turns.on_answer = controller.wake
    controller.start()
    parts.routes.append(TimelineApi(controller))
    _add_worker(parts, controller)
    if settings.data_dir is None:
        parts.on_stop.append(partial(shutil.rmtree, folder, ignore_errors=True))
    return controller


def _add_worker(parts: "Parts", controller: "ScenarioController") -> None:
    """Let the controller work with the others, wake with the programs outside, and end with the server."""
    parts.workers.append(controller)
    parts.on_stop.append(controller.shut_down)
    if parts.outside is not None:
        parts.outside.woken.append(controller.wake)


def _timelines_folder(settings: "Settings") -> Path:
    """Where timelines are kept: in the data directory, or in a temporary folder until the server stops.

    The folder is made with the first timeline, so that a server that runs no scenario leaves nothing to remove.
    """
    if settings.data_dir is not None:
        return settings.data_dir / "timelines"
    return Path(tempfile.gettempdir()) / f"seatrial-timelines-{secrets.token_hex(8)}"
