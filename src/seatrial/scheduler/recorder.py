"""Who is told of decisions. The scheduler never knows who keeps them."""

from typing import Protocol

from seatrial.scheduler.decision import Decision


class Recorder(Protocol):
    """Takes each decision as it is made; `wants_cells` false spares the making of per-node columns."""

    wants_cells: bool

    def record(self, decision: Decision) -> None: ...


class NoRecorder:
    """Keeps nothing."""

    wants_cells = False

    def record(self, decision: Decision) -> None:
        """Forgets the decision."""


class ListRecorder:
    """Keeps decisions in a list, for tests and small tools."""

    wants_cells = True

    def __init__(self) -> None:
        self.decisions: list[Decision] = []

    def record(self, decision: Decision) -> None:
        self.decisions.append(decision)
