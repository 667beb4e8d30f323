"""Limits the loops of a step: a step that does not converge fails, with the most frequent writers in the message."""

from collections.abc import Callable

from seatrial.model.errors import ScenarioError
from seatrial.model.writers import is_operation
from seatrial.store import Change
from seatrial.timeline.writes import QUIET_KINDS

LOOPS_PER_POD = 10
LOOPS_ANYWAY = 10_000
SILENT_LOOPS = 100
"""The number of rounds without an operation that count as one loop."""
NAMED = 3
_VERBS = {"ADDED": "created", "MODIFIED": "changed", "DELETED": "deleted"}


class LoopCount:
    """Loops of one step between two passings of time; ScenarioError when they are too many."""

    def __init__(self, limit: int | None, pods: Callable[[], int]) -> None:
        self._limit = limit
        self._at_least = LOOPS_ANYWAY if limit is None else limit
        self._pods = pods
        self._loops = 0
        self._turns = 0
        self._seen = 0, 0
        self._writes: dict[tuple[str, str, str], int] = {}
        self.writes = 0
        """Writes of all sorts but events and leases, over all steps."""

    def reset(self) -> None:
        self._loops = self._turns = 0
        self._writes.clear()

    def passed(self, *, bounded: bool) -> None:
        """Restart the count because time has passed: later loops are no reaction to earlier writes.

        Where nothing bounds the time that may pass, only loops without a write are forgotten.
        """
        if bounded:
            self.reset()
        elif self.writes == self._seen[0]:
            self._loops = min(self._loops, self._seen[1])
        self._seen = self.writes, self._loops

    def note(self, change: Change) -> None:
        """Count a write, for the error message and to detect progress."""
        kind, writer = change.stored.kind, change.writer
        self.writes += kind.group_kind not in QUIET_KINDS
        write = writer, change.type, kind.kind
        count = self._writes.get(write)
        if count is not None:
            self._writes[write] = count + 1
        elif not is_operation(writer):
            self._writes[write] = 1

    def turn(self) -> None:
        """Count one round of the pre-simulation controllers."""
        self._turns += 1
        if self._turns >= SILENT_LOOPS:
            self._turns = 0
            self.loop()

    def loop(self) -> None:
        """A loop of a simulated controller, a turn with an operation in it, or a timer that fired."""
        self._loops += 1
        if self._loops > self._at_least and self._loops > self.limit:
            raise ScenarioError(
                "", f"the step did not come to rest within {self.limit} loops (--max-loops); {self._named()}"
            )

    @property
    def limit(self) -> int:
        return self._limit if self._limit is not None else LOOPS_PER_POD * self._pods() + LOOPS_ANYWAY

    def _named(self) -> str:
        counted = [((writer, _VERBS[type], kind), number) for (writer, type, kind), number in self._writes.items()]
        busiest = sorted(counted, key=lambda item: (-item[1], item[0]))[:NAMED]
        if not busiest:
            return "nothing was written"
        return "most was written by " + ", ".join(
            f"{writer} ({verb} {kind} {number} times)" for (writer, verb, kind), number in busiest
        )
