"""Who is told of decisions. The scheduler never knows who keeps them."""

from typing import Protocol

from seatrial.scheduler.schedule_one.decision import Decision

ANNOTATOR = "seatrial:annotations"
"""The writer of result annotations: what it writes is never an event for the queue."""


class Recorder(Protocol):
    """Takes each decision as it is made; `wants_cells` false spares the making of per-node columns."""

    wants_cells: bool

    def record(self, decision: Decision) -> None: ...


class NoRecorder:
    """Keeps nothing."""

    wants_cells = False

    def record(self, decision: Decision) -> None:
        """Forgets the decision."""


class BothRecorders:
    """Tells two recorders."""

    def __init__(self, first: Recorder, second: Recorder) -> None:
        self._recorders = first, second
        self.wants_cells = first.wants_cells or second.wants_cells

    def record(self, decision: Decision) -> None:
        for recorder in self._recorders:
            recorder.record(decision)


class ListRecorder:
    """Keeps decisions in a list, for tests and small tools."""

    wants_cells = True

    def __init__(self) -> None:
        self.decisions: list[Decision] = []

    def record(self, decision: Decision) -> None:
        self.decisions.append(decision)
