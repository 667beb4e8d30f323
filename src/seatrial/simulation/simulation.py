"""One simulation: the assembly of store, clock, controllers, schedulers and recorder, and the loop that plays it.

Commands, the Python API, capacity, sweeps and benchmarks all make a Simulation; nothing else wires these parts.
"""

import sys
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from seatrial.model.defaults import GatedFields
from seatrial.model.documents import Document
from seatrial.scenario import ScenarioRun, ScenarioStatus, SimulationOptions, TimelinePages, fresh_store
from seatrial.scheduler.config import default_configuration
from seatrial.simulation.loop import Tick, loops, no_tick, run_interruptibly
from seatrial.simulation.programs import NO_PROGRAMS, Programs
from seatrial.store import Store
from seatrial.timeline.rows import Rows

if TYPE_CHECKING:
    from seatrial.simulation.hosted_run import HostedRun


@dataclass(frozen=True, slots=True)
class Sinks:
    """What receives the output of a run; it is kept in memory by default."""

    pages: TimelinePages | None = None
    """Receives the encoded timeline."""
    rows: Rows | None = None
    """Receives the rows of timeline.parquet."""


IN_MEMORY = Sinks()


class Simulation:
    """The run of one scenario in a cluster of its own, in virtual time."""

    def __init__(
        self,
        document: Document,
        options: SimulationOptions | None = None,
        sinks: Sinks = IN_MEMORY,
        *,
        folder: Path | None = None,
        programs: Programs = NO_PROGRAMS,
    ) -> None:
        """`folder`: where the files are that the scenario's generators read. `programs` take part from outside."""
        options = options or SimulationOptions()
        self.host: HostedRun | None = None
        """The server that programs outside this process talk to."""
        configuration = options.scheduler_config or default_configuration()
        store = fresh_store(seed=options.seed, watched=bool(programs), version=configuration.version)
        store.gated_fields = GatedFields(configuration.gates)
        if programs:
            self.host = programs.host(store)
            options = self.host.add_to(options)
        try:
            programs.check_taking_part(document)
            self.scenario_run = ScenarioRun(
                document, store, store.clock, options,
                folder=folder, pages=sinks.pages, rows=sinks.rows,
            )  # fmt: skip
        except BaseException:
            if self.host is not None:
                self.host.close()
            raise

    def __repr__(self) -> str:
        step = "" if self.status.major is None else f" in step {self.status.major}"
        return f"<Simulation {self.name}: {self.status.phase}{step}>"

    @property
    def name(self) -> str:
        """The name of the scenario."""
        return str(self.scenario_run.document["metadata"]["name"])

    @property
    def status(self) -> ScenarioStatus:
        return self.scenario_run.status

    @property
    def store(self) -> Store:
        return self.scenario_run.store

    def play(self, tick: Tick = no_tick, *, deadline: float = 0, interruptible: bool = False) -> ScenarioStatus:
        """Run until Succeeded, Paused or Failed; `tick` is called after every loop.

        After `deadline` seconds the run ends as Failed. `interruptible`: Ctrl-C and SIGTERM end it as Failed as well.
        What a plugin or controller prints goes to standard error: standard output is the answer of a command.
        """
        with redirect_stdout(sys.stderr):
            if self.host is not None:
                self.host.drive(self.scenario_run, tick, deadline)
            elif interruptible:
                run_interruptibly(self.scenario_run, tick, deadline)
            else:
                for _ in loops(self.scenario_run, tick, deadline):
                    pass
        return self.status
