"""The status of a Scenario: phase, message, step, and the published pages of its timeline.

A page is the encoded timeline of one finished step. Pages are written once and shared by all later states, so the
cost of a status does not grow with the number of past steps.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol

from seatrial.model.documents import Document, encode
from seatrial.scenario.spec.dialect import PENDING, STOPPED, Dialect, Phase
from seatrial.timeline import NOT_IN_TIMELINE
from seatrial.timeline.wire import Entry, listed, page_of


class ResultsStrategy(Enum):
    """When the result is published: the values of UPDATE_SCENARIO_RESULTS_STRATEGY."""

    AT_MOVING_NEXT_STEP = "AtMovingNextStep"
    ON_PAUSE = "OnPause"
    ON_DONE = "OnDone"


class TimelinePages(Protocol):
    """Where the encoded timeline is kept, a page per step; pages are written and copied in pieces."""

    def append(self, page: Sequence[bytes]) -> None: ...

    def replace_last(self, page: Sequence[bytes]) -> None: ...

    def __len__(self) -> int: ...

    def __getitem__(self, number: int, /) -> bytes: ...

    def pieces(self, number: int) -> Iterable[bytes]: ...


class MemoryPages:
    """TimelinePages in memory."""

    def __init__(self) -> None:
        self._pages: list[bytes] = []

    def append(self, page: Sequence[bytes]) -> None:
        self._pages.append(b"".join(page))

    def replace_last(self, page: Sequence[bytes]) -> None:
        self._pages[-1] = b"".join(page)

    def __len__(self) -> int:
        return len(self._pages)

    def __getitem__(self, number: int, /) -> bytes:
        return self._pages[number]

    def pieces(self, number: int) -> Iterable[bytes]:
        return (self._pages[number],)


@dataclass(slots=True)
class ScenarioStatus:
    """The status of one Scenario."""

    dialect: Dialect
    version: str
    pages: TimelinePages = field(default_factory=MemoryPages)
    phase: str = PENDING
    reason: str = ""
    notes: dict[str, str] = field(default_factory=dict)
    major: int | None = None
    minor: int = 0
    step_phase: Phase | None = None
    running: str = ""
    scheduler_status: str = STOPPED
    published: int = 0
    not_in_timeline: Document = field(default_factory=dict)
    """Facts for the readers of the result that no entry of the timeline shows: see `timeline.unshown`."""
    failing_pods: int = 0
    """How many pods rest at the end because their last attempt failed with an error; the command then exits with 1."""

    @property
    def message(self) -> str:
        return "; ".join(part for part in (self.reason, *self.notes.values()) if part)

    def turn(self, step: int, entries: Sequence[Entry]) -> None:
        """Keep the page of a finished step."""
        self.pages.append(page_of(step, entries))

    def extend(self, step: int, entries: Sequence[Entry]) -> None:
        """Add entries to the page of the last step: the writes were made after it had finished."""
        if not entries:
            return
        if not len(self.pages):
            self.turn(step, entries)
            return
        page = self.pages[len(self.pages) - 1]
        separator = b"" if page.endswith(b"[]") else b","
        self.pages.replace_last([page[:-1], separator, *listed(entries), b"]"])

    def head(self) -> Document:
        """The status without its result."""
        status: dict[str, Any] = {"phase": self.phase}
        if self.message:
            status["message"] = self.message
        if not self.dialect.minor_steps:
            status["schedulerStatus"] = self.scheduler_status
        if self.major is not None:
            step: dict[str, Any] = {"step": self.dialect.step(self.major, self.minor)}
            if self.step_phase is not None:
                step["phase"] = self.dialect.phase(self.step_phase)
            if self.dialect.minor_steps:
                step["runningSimulationController"] = self.running
            status["stepStatus"] = step
        if self.not_in_timeline and self.published:
            status[NOT_IN_TIMELINE] = self.not_in_timeline
        return status

    def parts(self) -> Iterator[bytes]:
        """The encoded status in pieces that join to one JSON object."""
        head = encode(self.head())
        if not self.published:
            yield head
            return
        yield b'%s,"scenarioResult":{"simulatorVersion":%s,"timeline":{' % (head[:-1], encode(self.version))
        for place in range(self.published):
            if place:
                yield b","
            yield from self.pages.pieces(place)
        yield b"}}}"


class Publisher(Protocol):
    """Receives the status after each change."""

    def publish(self, status: ScenarioStatus) -> None: ...


class Publishers:
    """Passes the status to several publishers, in order."""

    def __init__(self, publishers: Sequence[Publisher]) -> None:
        self._publishers = tuple(publishers)

    def publish(self, status: ScenarioStatus) -> None:
        for publisher in self._publishers:
            publisher.publish(status)
