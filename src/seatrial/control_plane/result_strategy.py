"""Reads UPDATE_SCENARIO_RESULTS_STRATEGY: when a scenario's result is published. `run` and `serve` both honour it."""

import os
from typing import TYPE_CHECKING

from seatrial.model.errors import ConfigError

if TYPE_CHECKING:
    from seatrial.scenario import ResultsStrategy

VARIABLE = "UPDATE_SCENARIO_RESULTS_STRATEGY"
VALUES = ("AtMovingNextStep", "OnPause", "OnDone")


def check_strategy() -> None:
    """Refuse an unknown value. The values are listed here so that no command loads the scenario room for the check."""
    chosen = os.environ.get(VARIABLE)
    if chosen is not None and chosen not in VALUES:
        raise ConfigError("environment", VARIABLE, f"expected {', '.join(VALUES)}, got {chosen!r}")


def chosen_strategy() -> "ResultsStrategy":
    """The strategy of the environment, or the default."""
    from seatrial.scenario import ResultsStrategy

    check_strategy()
    return ResultsStrategy(os.environ.get(VARIABLE, VALUES[0]))
