"""Scenarios: operations, steps, waiters and the run."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.scenario.cluster import empty_store, follow, fresh_store, furnish
    from seatrial.scenario.dry_run import Finding
    from seatrial.scenario.kept_timelines import KeptTimelines
    from seatrial.scenario.options import MakeOutside, SimulationOptions, TieBreak
    from seatrial.scenario.scenario_controller import ScenarioController
    from seatrial.scenario.scenario_run import ScenarioRun
    from seatrial.scenario.scheduler_version import simulated_version
    from seatrial.scenario.status import ResultsStrategy, ScenarioStatus, TimelinePages
else:
    __getattr__, __dir__ = lazy_exports(__name__)
