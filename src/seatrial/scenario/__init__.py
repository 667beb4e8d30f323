"""Scenarios: operations, steps, waiters and the run."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.scenario.cluster import fresh_store, furnish
    from seatrial.scenario.dry_run import Finding
    from seatrial.scenario.gc_tuning import tune_collector
    from seatrial.scenario.kept_timelines import KeptTimelines
    from seatrial.scenario.sandbox import Cluster
    from seatrial.scenario.scenario_controller import ScenarioController
    from seatrial.scenario.scenario_run import MakeOutside, MakeScheduler, ScenarioRun, SimulationOptions
    from seatrial.scenario.status import ScenarioStatus, Strategy

__all__ = [
    "Cluster",
    "Finding",
    "KeptTimelines",
    "MakeOutside",
    "MakeScheduler",
    "ScenarioController",
    "ScenarioRun",
    "ScenarioStatus",
    "SimulationOptions",
    "Strategy",
    "fresh_store",
    "furnish",
    "tune_collector",
]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "Cluster": "sandbox",
            "Finding": "dry_run",
            "KeptTimelines": "kept_timelines",
            "MakeOutside": "scenario_run",
            "MakeScheduler": "scenario_run",
            "ScenarioController": "scenario_controller",
            "ScenarioRun": "scenario_run",
            "ScenarioStatus": "status",
            "SimulationOptions": "scenario_run",
            "Strategy": "status",
            "fresh_store": "cluster",
            "furnish": "cluster",
            "tune_collector": "gc_tuning",
        },
    )
