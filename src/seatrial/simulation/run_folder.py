"""Plays a simulation whose output goes to a folder: result.json, timeline.parquet and what the caller adds.

The timeline is kept in temporary files, so that a long run is not held in memory. The files of the folder appear
together, when all of them are written.
"""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from seatrial.model.documents import Document, encode
from seatrial.model.errors import ConfigError
from seatrial.scenario import SimulationOptions
from seatrial.scenario.output_files import RESULT, FilePages, write_whole
from seatrial.simulation.gc_tuning import tune_collector
from seatrial.simulation.loop import Tick, no_tick
from seatrial.simulation.output_folder import output_folder
from seatrial.simulation.programs import NO_PROGRAMS, Programs
from seatrial.simulation.simulation import Simulation, Sinks
from seatrial.timeline import NAME
from seatrial.timeline.rows import Rows, SpillingSink, write_table

FILES = (RESULT, NAME)
OUTSIDE_TIMES = "outside.json"
"""Real times of outside schedulers: not in result.json, which repeats."""
AddFiles = Callable[[Simulation, Path], object]
"""Adds files to the folder of a finished run, such as a report."""


def run_into(
    target: Path,
    document: Document,
    options: SimulationOptions,
    *,
    source: Path | None = None,
    programs: Programs = NO_PROGRAMS,
    tick: Tick = no_tick,
    deadline: float = 0,
    add_files: AddFiles | None = None,
) -> Simulation:
    """Run a scenario, for `deadline` seconds at most (0: no limit), until its end, Ctrl-C or SIGTERM.

    `source` is the file of the scenario. The output of `programs` goes to the folder `outside`.
    """
    tune_collector()
    programs = replace(programs, logs=target / "outside")
    with tempfile.TemporaryDirectory(prefix="seatrial-") as spool, tempfile.TemporaryFile() as pages:
        sinks = Sinks(FilePages(pages), Rows(SpillingSink(Path(spool))))
        folder = Path() if source is None else source.parent
        try:
            simulation = Simulation(document, options, sinks, folder=folder, programs=programs)
        except ConfigError as error:
            path = error.path or ("" if source is None else str(source))
            raise ConfigError(path, error.field, error.why) from error
        with output_folder(target) as staging:
            simulation.play(tick, deadline=deadline, interruptible=True)
            write_files(simulation, staging)
            if add_files is not None:
                add_files(simulation, staging)
    return simulation


def write_files(simulation: Simulation, folder: Path) -> None:
    """Write timeline.parquet and result.json."""
    run = simulation.scenario_run
    write_table(run.timeline.rows.table(), run.timeline.dictionary.document(), folder / NAME)
    write_whole(folder / RESULT, run.parts())
    if simulation.host is not None and (times := simulation.host.controllers.real_times()):
        (folder / OUTSIDE_TIMES).write_bytes(encode(times))
