"""The engine that runs a scenario: steps, operations, controllers, loop limits."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.scenario.engine.controller_registry import (
        REGISTRY,
        SCHEDULER,
        enabled_names,
        load_controllers,
        simulated_names,
    )
    from seatrial.scenario.engine.embedded_scheduler import TieBreak, scheduler_maker
    from seatrial.scenario.engine.embedded_volcano import VOLCANO, VolcanoSettings
    from seatrial.scenario.engine.participants import SchedulerLoop
    from seatrial.scenario.engine.user_controllers import Cluster, UserController

__all__ = [
    "REGISTRY",
    "SCHEDULER",
    "VOLCANO",
    "Cluster",
    "SchedulerLoop",
    "TieBreak",
    "UserController",
    "VolcanoSettings",
    "enabled_names",
    "load_controllers",
    "scheduler_maker",
    "simulated_names",
]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "Cluster": "user_controllers",
            "REGISTRY": "controller_registry",
            "SCHEDULER": "controller_registry",
            "SchedulerLoop": "participants",
            "TieBreak": "embedded_scheduler",
            "UserController": "user_controllers",
            "VOLCANO": "embedded_volcano",
            "VolcanoSettings": "embedded_volcano",
            "enabled_names": "controller_registry",
            "load_controllers": "controller_registry",
            "scheduler_maker": "embedded_scheduler",
            "simulated_names": "controller_registry",
        },
    )
