"""Runs the scenario of the benchmark as `seatrial run` does.

A module of its own, so that what is imported is there before the clock starts.
"""

import time
from pathlib import Path

from seatrial.scenario import ScenarioRun, SimulationOptions
from seatrial.scenario.spec import read_scenario
from seatrial.simulation import run_into
from seatrial.timeline import Level


def run_file(path: Path, folder: Path, record: Level) -> tuple[ScenarioRun, list[float]]:
    """Run a scenario as `seatrial run` does; also the CPU time of each step."""
    times: list[float] = []
    turned, last = 0, time.process_time()

    def note(run: ScenarioRun) -> None:
        nonlocal turned, last
        if len(run.status.pages) != turned:
            now = time.process_time()
            times.append(now - last)
            turned, last = len(run.status.pages), now

    simulation = run_into(folder, read_scenario(path), SimulationOptions(level=record), source=path, tick=note)
    return simulation.scenario_run, times
