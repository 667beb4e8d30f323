"""The engine that runs a scenario: steps, operations, controllers, loop limits."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.scenario.engine.controller_registry import (
        REGISTRY,
        SCHEDULER,
        Registry,
        enabled_names,
        load_controllers,
        simulated_names,
    )
    from seatrial.scenario.engine.embedded_volcano import VOLCANO, volcano_of
    from seatrial.scenario.engine.engine import Engine
    from seatrial.scenario.engine.participants import SchedulerLoop
    from seatrial.scenario.engine.user_controllers import Cluster, UserController
else:
    __getattr__, __dir__ = lazy_exports(__name__)
