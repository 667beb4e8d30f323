"""Runs the scenario of the benchmark as `seatrial run` does.

A module of its own, so that what is imported is there before the clock starts.
"""

import tempfile
import time
from pathlib import Path

from seatrial.clock import Clock
from seatrial.scenario import ScenarioRun, SimulationOptions, fresh_store, tune_collector
from seatrial.scenario.engine import scheduler_maker
from seatrial.scenario.output_files import FilePages, write_whole
from seatrial.scenario.spec import read_scenario
from seatrial.timeline import Level
from seatrial.timeline.rows import Rows, SpillingSink, write_table


def run_file(path: Path, folder: Path, record: Level) -> tuple[ScenarioRun, list[float]]:
    """Run a scenario as `seatrial run` does; also the CPU time of each step."""
    tune_collector()
    clock = Clock()
    with tempfile.TemporaryFile() as pages:
        run = ScenarioRun(
            read_scenario(path), fresh_store(clock), clock, scheduler_maker(events=record == "full"),
            SimulationOptions(level=record), pages=FilePages(pages), rows=Rows(SpillingSink(folder)),
        )  # fmt: skip
        times: list[float] = []
        turned, last = 0, time.process_time()
        for _ in run.run():
            if len(run.status.pages) != turned:
                now = time.process_time()
                times.append(now - last)
                turned, last = len(run.status.pages), now
        write_table(run.timeline.rows.table(), run.timeline.dictionary.document(), folder / "timeline.parquet")
        write_whole(folder / "result.json", run.parts())
    return run, times
