"""Simulations in a user's cluster: the kinds of KEP-159 and KEP-184, their controllers and the scenario runner."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.operator.deployment_manifests import deployment, manifests, permissions
    from seatrial.operator.kinds import IMAGE, definitions
    from seatrial.operator.local_simulation import LocalSimulation, read_simulations
    from seatrial.operator.main import Options, run
    from seatrial.operator.outcome import Deadlines
    from seatrial.operator.scenario_runner import RunnerError, RunnerOptions, ScenarioRunner, check_writable
else:
    __getattr__, __dir__ = lazy_exports(__name__)
