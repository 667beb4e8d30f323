"""Runs one scenario, from its document to the Scenario with its status.

The command line, the Python API and the server all make a ScenarioRun. They differ in the store, in the publisher of
the status, and in where timeline pages and rows are kept.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import msgspec

from seatrial import __version__
from seatrial.clock.virtual import END, START, Clock
from seatrial.model.documents import Document, encode
from seatrial.model.durations import parse_duration
from seatrial.model.errors import ConfigError, ScenarioError, SeatrialError
from seatrial.scenario.engine.controller_registry import REGISTRY, SCHEDULER, Registry, enabled_names
from seatrial.scenario.engine.controller_set import SimulationControllers
from seatrial.scenario.engine.embedded_volcano import VolcanoSettings, volcano_maker
from seatrial.scenario.engine.engine import Engine, Settings
from seatrial.scenario.engine.participants import Participant, SchedulerLoop
from seatrial.scenario.engine.user_controllers import UserControllerParticipant
from seatrial.scenario.spec.annotations import check_annotations
from seatrial.scenario.spec.dialect import FAILED, PAUSED, Phase, profile_of
from seatrial.scenario.spec.kind import SCENARIO, STEP_DURATION, Controllers
from seatrial.scenario.spec.plan import Plan, Planned, number, settle
from seatrial.scenario.spec.validation import operation_problems, problems
from seatrial.scenario.status import MemoryPages, Publisher, Publishers, ScenarioStatus, Strategy, TimelinePages
from seatrial.scheduler import Recorder
from seatrial.store.store import Store
from seatrial.timeline.rows import Rows
from seatrial.timeline.timeline import CELLS_ON_THE_WIRE, SNAPSHOT, Level, Timeline
from seatrial.timeline.wire import Shape
from seatrial.volcano.scheduler import VolcanoScheduler

JOBS_TOLD = 5
"""Waiting jobs of Volcano whose reasons the message of a scenario gives."""
MakeScheduler = Callable[[Store, Clock, Recorder], SchedulerLoop]
NO_SCHEDULER = (
    "the scheduler is simulated, but this server runs without one (--no-scheduler): start it without that option, "
    "or with --outside 'scheduler=COMMAND'"
)
MakeOutside = Callable[["ScenarioRun"], Participant]


@dataclass(frozen=True, slots=True)
class SimulationOptions:
    """What whoever starts a play may choose."""

    level: Level = "full"
    cells: int = CELLS_ON_THE_WIRE
    drain: bool = False
    max_loops: int | None = None
    strategy: Strategy = Strategy.AT_MOVING_NEXT_STEP
    snapshot: Sequence[Document] = ()
    registry: Registry = field(default_factory=lambda: REGISTRY)
    volcano: VolcanoSettings = field(default_factory=VolcanoSettings)
    memory: int | None = None
    """Bytes that the objects of the scenario may take, by an estimate; None is no limit."""
    outside: Mapping[str, MakeOutside] = field(default_factory=dict)
    """Controllers that run outside this process, by name."""
    has_scheduler: bool = True
    """Whether the embedded scheduler may be used."""
    observers: Sequence[Publisher] = ()
    """Shown every change of the status."""


class ScenarioRun:
    """One scenario on its stage."""

    def __init__(
        self,
        document: Document,
        store: Store,
        clock: Clock,
        make_scheduler: MakeScheduler,
        options: SimulationOptions | None = None,
        *,
        folder: Path | None = None,
        pages: TimelinePages | None = None,
        rows: Rows | None = None,
        publisher: Publisher | None = None,
    ) -> None:
        self.options = options or SimulationOptions()
        self.store, self.clock = store, clock
        self.started_at = clock.now()
        self.document, operations = settle(document, folder, self.options.memory)
        profile = profile_of(document.get("spec") or {})
        self.plan = Plan(profile, operations)
        self.listed = list(operations)
        self.board = ScenarioStatus(profile, __version__, pages if pages is not None else MemoryPages())
        self.timeline = Timeline(
            Shape(profile.minor_steps),
            rows,
            level=self.options.level,
            cells=self.options.cells,
            is_taken=self.plan.has_id,
            beside=[SCENARIO.group_kind],
        )
        self.engine: Engine | None = None
        self._continued = False
        shown = [*self.options.observers, *([publisher] if publisher is not None else [])]
        self.publisher = Publishers(shown) if shown else None
        self._make_scheduler = make_scheduler
        self._unsubscribe: list[Callable[[], None]] = []

    @property
    def is_over(self) -> bool:
        return self.board.phase in ("Succeeded", FAILED)

    @property
    def is_paused(self) -> bool:
        return self.board.phase == PAUSED

    @property
    def is_waiting(self) -> bool:
        """Whether only programs outside this process have work: `run` is to be called on when they wake the caller."""
        return self.engine is not None and self.engine.company.is_waiting

    def run(self) -> Iterator[None]:
        """Run until Succeeded, Paused or Failed; comes back after every loop."""
        if self.engine is None:
            wrong = next(self._problems(), None)
            if wrong is not None:
                self.board.phase, self.board.reason = FAILED, str(wrong)
                self._show()
                return
            try:
                self.engine = self._start()
            except SeatrialError as error:
                self.board.phase, self.board.reason = FAILED, str(error)
                self._show()
                return
        yield from self.engine.play()
        self._tell_unserved(self.engine.company)
        self._tell_waiting(self.engine.company)

    def _problems(self) -> Iterator[ScenarioError]:
        names = {*self.options.registry.names(), *self.options.outside}
        yield from problems(self.document, self.plan.profile, self.listed, names)
        if not self.options.has_scheduler and SCHEDULER not in self.options.outside and self._needs_scheduler():
            yield ScenarioError("", NO_SCHEDULER)

    def _needs_scheduler(self) -> bool:
        if not self.plan.profile.minor_steps:
            return True
        chosen = msgspec.convert((self.document.get("spec") or {}).get("controllers") or {}, Controllers)
        return SCHEDULER in enabled_names(chosen)

    def revise(self, listed: Sequence[bytes]) -> None:
        """Take in the whole list of a changed spec: what is no longer in it and still to come is dropped."""
        given = {planned.id for planned in number(listed)}
        self.plan.keep(given, -1 if self.board.major is None else self.board.major)
        self.listed = [planned for planned in self.listed if planned.id in given]
        self.add(listed)

    def add(self, listed: Sequence[bytes]) -> None:
        """Take in operations of a changed spec: new ones are planned, those of a past step ignored."""
        current = -1 if self.board.major is None else self.board.major
        for planned in number(listed, self.plan.ids()):
            if self.plan.knows(planned):
                continue
            wrong = next(operation_problems(planned, self.plan.profile), None)
            if wrong is not None:
                self.fail(str(wrong))
                return
            self.listed = [other for other in self.listed if other.id != planned.id] + [planned]
            if planned.step <= current:
                self.board.notes[planned.id] = f"operation {planned.id}: step {planned.step} is past, it is ignored"
            elif self.plan.has_id(planned.id):
                self.plan.replace(planned)
            else:
                self.plan.add(planned)

    def continue_from(self, status: Document) -> None:
        """Stand where an earlier life of this play was Paused: its steps are past, its objects are there."""
        step = (status.get("stepStatus") or {}).get("step")
        major = step.get("major") if isinstance(step, dict) else step
        self.board.phase, self.board.reason = PAUSED, str(status.get("message", ""))
        self.board.major = int(major) if major is not None else None
        self.board.step_phase = Phase.FINISHED
        self.board.published = len(self.board.pages)
        self.timeline.major = self.board.major or 0
        pods = self.store.kinds.named("v1", "Pod")
        for stored in self.store.list(pods) if pods is not None else ():
            self.timeline.adopt(stored, self.clock.now())
        self._continued = True

    def fail(self, why: str) -> None:
        """End the play as Failed."""
        if self.engine is not None:
            self.engine.fail(why)
        else:
            self.board.phase, self.board.reason = FAILED, why
            self._show()

    def close(self) -> None:
        """Let the company go and stop listening."""
        if self.engine is not None:
            self.engine.company.stop()
        for unsubscribe in self._unsubscribe:
            unsubscribe()
        self._unsubscribe.clear()
        self.store.before_write = None

    def parts(self) -> Iterator[bytes]:
        """The Scenario with its status, encoded, in pieces."""
        head = {key: value for key, value in self.document.items() if key not in ("spec", "status")}
        yield encode(head)[:-1] + b',"spec":'
        yield from self.spec_parts()
        yield b',"status":'
        yield from self.board.parts()
        yield b"}"

    def spec_parts(self) -> Iterator[bytes]:
        spec = encode(self.document.get("spec") or {})[:-1]
        yield spec + (b"," if len(spec) > 1 else b"") + b'"%s":[' % self.plan.profile.listing.encode()
        for place, planned in enumerate(self.listed):
            if place:
                yield b","
            yield planned.data
        yield b"]}"

    def _start(self) -> Engine:
        registry, profile, store, clock = self.options.registry, self.plan.profile, self.store, self.clock
        chosen = msgspec.convert((self.document.get("spec") or {}).get("controllers") or {}, Controllers)
        volcano = None
        if registry.uses_volcano(chosen, profile):
            outer = step_duration(self.document) > 0
            volcano = volcano_maker(store, clock, self.timeline, self.options.volcano, outer=outer)
        if not self._continued:
            self.timeline.major = self.plan.first() or 0
            self._load_snapshot()
        scheduler = self._make_scheduler(store, clock, self.timeline)
        outside = {name: partial(make, self) for name, make in self.options.outside.items()}
        company = registry.cast(chosen, profile, store, clock, scheduler, volcano, outside)
        duration = step_duration(self.document)
        last = self.plan.last() or 0
        if START + last * duration > END:
            raise ScenarioError("", f"step {last} would begin after the year 9999 (annotation {STEP_DURATION})")
        settings = Settings(
            step_duration=duration,
            drain=self.options.drain,
            max_loops=self.options.max_loops,
            strategy=self.options.strategy,
        )
        engine = Engine(self.store, self.clock, self.plan, self.board, self.timeline, company, settings, self.publisher)
        self._unsubscribe = [self.store.subscribe(self.timeline.listen), self.store.subscribe(engine.loops.note)]
        self.store.before_write = engine.about_to_write
        company.start()
        return engine

    def _tell_unserved(self, company: SimulationControllers) -> None:
        """A controller that watches a kind which never came was never called: probably not meant."""
        for actor in (*company.preparing, *company.simulated):
            missing = actor.unserved() if isinstance(actor, UserControllerParticipant) else []
            if missing and self.board.phase != FAILED:
                text = f"controller {actor.name} watches {', '.join(missing)}, which is not served"
                self.board.notes[f"unserved {actor.name}"] = text
                self._show()
            else:
                self.board.notes.pop(f"unserved {actor.name}", None)

    def _tell_waiting(self, company: SimulationControllers) -> None:
        """Say why jobs of Volcano still wait."""
        for actor in (*company.preparing, *company.simulated):
            if isinstance(actor, VolcanoScheduler):
                told = [entry.text for entry in actor.waiting]
                more = f"; {len(told) - JOBS_TOLD} more jobs wait" if len(told) > JOBS_TOLD else ""
                self.board.notes[actor.name] = "; ".join(told[:JOBS_TOLD]) + more
                self._show()

    def _load_snapshot(self) -> None:
        for document in self.options.snapshot:
            check_annotations(document)
        for stored in self.store.load(self.options.snapshot, writer=SNAPSHOT):
            self.timeline.adopt(stored, self.clock.now())

    def _show(self) -> None:
        if self.publisher is not None:
            self.publisher.publish(self.board)


def step_duration(document: Document) -> int:
    """How much virtual time a step takes; ScenarioError where the annotation is no duration."""
    text = ((document.get("metadata") or {}).get("annotations") or {}).get(STEP_DURATION, "0s")
    try:
        duration = parse_duration(text)
    except (ValueError, ConfigError) as error:
        raise ScenarioError("", f"annotation {STEP_DURATION}: {error}") from error
    if duration < 0:
        raise ScenarioError("", f"annotation {STEP_DURATION}: {text} is negative")
    return duration


__all__ = ["MakeScheduler", "Planned", "ScenarioRun", "SimulationOptions", "step_duration"]
