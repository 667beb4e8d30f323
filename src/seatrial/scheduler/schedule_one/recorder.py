"""The protocol by which the scheduler hands out its decisions; the timeline implements it."""

from typing import Protocol

from seatrial.scheduler.schedule_one.decision import Decision

ANNOTATOR = "seatrial:annotations"
"""The writer of result annotations: what it writes is never an event for the queue."""


class Recorder(Protocol):
    """Takes each decision; without `wants_cells` the decisions have no details but the best nodes."""

    wants_cells: bool

    def keeps_cells(self, visited: int) -> bool:
        """Whether it keeps the verdicts and scores of an attempt that has visited this number of nodes."""
        ...

    def decided(self, decision: Decision) -> None:
        """Takes a decision before the writes that carry it out."""
        ...

    def record(self, decision: Decision) -> None:
        """Takes a decision with its outcome, after those writes."""
        ...


class NoRecorder:
    """Keeps nothing."""

    wants_cells = False

    def keeps_cells(self, visited: int) -> bool:
        return False

    def decided(self, decision: Decision) -> None:
        """Ignores the decision."""

    def record(self, decision: Decision) -> None:
        """Ignores the decision."""


class BothRecorders:
    """Hands decisions to two recorders."""

    def __init__(self, first: Recorder, second: Recorder) -> None:
        self._recorders = first, second
        self.wants_cells = first.wants_cells or second.wants_cells

    def keeps_cells(self, visited: int) -> bool:
        return any(recorder.keeps_cells(visited) for recorder in self._recorders)

    def decided(self, decision: Decision) -> None:
        for recorder in self._recorders:
            recorder.decided(decision)

    def record(self, decision: Decision) -> None:
        for recorder in self._recorders:
            recorder.record(decision)


class ListRecorder:
    """Keeps decisions in a list, for tests and small tools."""

    wants_cells = True

    def __init__(self) -> None:
        self.decisions: list[Decision] = []

    def keeps_cells(self, visited: int) -> bool:
        return True

    def decided(self, decision: Decision) -> None:
        """Waits for the outcome."""

    def record(self, decision: Decision) -> None:
        self.decisions.append(decision)
