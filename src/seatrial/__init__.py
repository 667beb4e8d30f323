"""Seatrial: what a Kubernetes scheduler will do, before it does it."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

__version__ = "0.1.0"

if TYPE_CHECKING:
    from seatrial.api import Cluster, Result, RunOptions, Scenario, Simulation, compare, run, sweep
else:
    __getattr__, __dir__ = lazy_exports(__name__)
