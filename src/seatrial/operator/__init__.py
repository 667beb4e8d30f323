"""Simulations in a user's cluster: the kinds of KEP-159 and KEP-184, their controllers and the scenario runner."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.operator.deployment_manifests import deployment, manifests, permissions
    from seatrial.operator.kinds import IMAGE, definitions
    from seatrial.operator.local_simulation import LocalSimulation, read_simulations
    from seatrial.operator.main import Options, run
    from seatrial.operator.outcome import Deadlines
    from seatrial.operator.scenario_runner import RunnerError, RunnerOptions, ScenarioRunner, check_writable

__all__ = [
    "IMAGE",
    "Deadlines",
    "LocalSimulation",
    "Options",
    "RunnerError",
    "RunnerOptions",
    "ScenarioRunner",
    "check_writable",
    "definitions",
    "deployment",
    "manifests",
    "permissions",
    "read_simulations",
    "run",
]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "Deadlines": "outcome",
            "IMAGE": "kinds",
            "LocalSimulation": "local_simulation",
            "Options": "main",
            "RunnerError": "scenario_runner",
            "RunnerOptions": "scenario_runner",
            "ScenarioRunner": "scenario_runner",
            "check_writable": "scenario_runner",
            "definitions": "kinds",
            "deployment": "deployment_manifests",
            "manifests": "deployment_manifests",
            "permissions": "deployment_manifests",
            "read_simulations": "local_simulation",
            "run": "main",
        },
    )
