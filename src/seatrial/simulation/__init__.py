"""One assembly and one loop: a simulation owns store, clock, controllers, schedulers, recorder and result folder."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.simulation.gc_tuning import tune_collector
    from seatrial.simulation.output_folder import make_folder
    from seatrial.simulation.programs import NO_PROGRAMS, Programs, read_programs
    from seatrial.simulation.run_folder import FILES, run_into
    from seatrial.simulation.sandbox import Sandbox
    from seatrial.simulation.simulation import Simulation, Sinks
else:
    __getattr__, __dir__ = lazy_exports(__name__)
