"""The two spellings of KEP-140 as data: names of the list, of the phases, and the shape of a step.

`events` is the first version (integer steps, the scheduler alone is simulated), `operations` the second one (major
and minor steps, controllers by name). The engine knows one sequence of phases; a spelling names each of them.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Any


class Phase(IntEnum):
    """The phase of the engine inside a step; integers are found in tables faster than other members of an Enum."""

    OPERATING = 1
    OPERATED = 2
    RUNNING = 3
    PAUSED = 4
    COMPLETED = 5
    FINISHED = 6


@dataclass(frozen=True, slots=True)
class Dialect:
    """The names that one spelling has for what the engine does."""

    listing: str
    phases: dict[Phase, str]
    minor_steps: bool

    def phase(self, phase: Phase) -> str:
        """The word of this spelling for a phase; empty if the spelling has no such phase."""
        return self.phases.get(phase, "")

    def step(self, major: int, minor: int) -> Any:
        """A step on the wire."""
        return {"major": major, "minor": minor} if self.minor_steps else major


EVENTS = Dialect(
    listing="events",
    phases={
        Phase.OPERATING: "OperatingEvents",
        Phase.OPERATED: "OperatingEventsFinished",
        Phase.RUNNING: "Scheduling",
        Phase.COMPLETED: "SchedulingFinished",
        Phase.FINISHED: "Finished",
    },
    minor_steps=False,
)
OPERATIONS = Dialect(
    listing="operations",
    phases={
        Phase.OPERATING: "Operating",
        Phase.OPERATED: "OperatingCompleted",
        Phase.RUNNING: "ControllerRunning",
        Phase.PAUSED: "ControllerPaused",
        Phase.COMPLETED: "ControllerCompleted",
        Phase.FINISHED: "Finished",
    },
    minor_steps=True,
)

PENDING, RUNNING, PAUSED, SUCCEEDED, FAILED, UNKNOWN = "Pending", "Running", "Paused", "Succeeded", "Failed", "Unknown"
"""The phases of a Scenario."""

WILL_RUN, SCHEDULING, WILL_STOP, STOPPED = "WillRun", "Running", "WillStop", "Stoped"
"""schedulerStatus of the first version, spelt as upstream does."""


def dialect_of(spec: dict[str, Any]) -> Dialect:
    """The spelling of a spec; without any list, its controllers decide."""
    if spec.get("events") is not None:
        return EVENTS
    if spec.get("operations") is not None or spec.get("controllers") is not None:
        return OPERATIONS
    return EVENTS
