"""Runs one scenario, from its document to the Scenario with its status.

The command line, the Python API and the server all make a ScenarioRun. They differ in the store, in the publisher of
the status, and in where timeline pages and rows are kept.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from seatrial import __version__
from seatrial.clock import END, START, Clock
from seatrial.model.documents import Document, encode
from seatrial.model.durations import parse_duration
from seatrial.model.errors import ConfigError, ScenarioError, SeatrialError
from seatrial.model.times import parse_time
from seatrial.scenario.engine.controller_registry import CLUSTER_AUTOSCALER, SCHEDULER, MakeParticipant, enabled_names
from seatrial.scenario.engine.controller_set import SimulationControllers
from seatrial.scenario.engine.embedded_scheduler import build_scheduler
from seatrial.scenario.engine.embedded_volcano import VOLCANO, volcano_maker, volcano_of
from seatrial.scenario.engine.engine import Engine, Settings
from seatrial.scenario.engine.participants import Participant, SchedulerParticipant
from seatrial.scenario.notes import contradictions, errors, unclaimed_pods, unserved, waiting_jobs
from seatrial.scenario.options import SimulationOptions
from seatrial.scenario.spec.annotations import check_annotations
from seatrial.scenario.spec.dialect import FAILED, PAUSED, Phase, dialect_of
from seatrial.scenario.spec.kind import SCENARIO, STEP_DURATION, Controllers
from seatrial.scenario.spec.operation_ids import KnownOperations, Planned, ids_in, with_ids
from seatrial.scenario.spec.plan import Plan, expand_and_number
from seatrial.scenario.spec.timers import idle_cron_jobs, unused_timers
from seatrial.scenario.spec.validation import operation_problems, problems_in_turns
from seatrial.scenario.status import MemoryPages, Publisher, Publishers, ScenarioStatus, TimelinePages
from seatrial.scheduler import NoRecorder, Scheduler
from seatrial.store import Store, Stored
from seatrial.store.snapshots import Snapshot, SnapshotError, restore_cluster
from seatrial.timeline import NOT_IN_TIMELINE, SNAPSHOT, Dictionary, Timeline, pasts_of_pods
from seatrial.timeline.rows import Rows
from seatrial.timeline.wire import Shape

if TYPE_CHECKING:
    from seatrial.volcano import VolcanoScheduler

NO_SCHEDULER = (
    "the scheduler is simulated, but this server runs without one (--no-scheduler): start it without that option, "
    "or with --outside 'scheduler=COMMAND'"
)


class ScenarioRun:
    """The run of one scenario."""

    def __init__(
        self,
        document: Document,
        store: Store,
        clock: Clock,
        options: SimulationOptions | None = None,
        *,
        folder: Path | None = None,
        pages: TimelinePages | None = None,
        rows: Rows | None = None,
        dictionary: Dictionary | None = None,
        publisher: Publisher | None = None,
        expanded: tuple[Document, list[Planned]] | None = None,
    ) -> None:
        """`expanded` is what `expand_and_number` has made of the document, where that was done before."""
        self.options = options or SimulationOptions()
        self.store, self.clock = store, clock
        self.started_at = clock.now()
        self.document, operations = expanded or expand_and_number(document, folder, self.options.memory)
        dialect = dialect_of(document.get("spec") or {})
        self.plan = Plan(dialect, operations)
        self.listed = list(operations)
        self.status = ScenarioStatus(dialect, __version__, pages if pages is not None else MemoryPages())
        self.timeline = Timeline(
            Shape(dialect.minor_steps),
            rows,
            dictionary,
            level=self.options.level,
            cells=self.options.cells,
            full_repeat=self.options.full_repeat,
            is_taken=lambda id: self.plan.has_id(id) or id in self._past_ids,
            excluded_kinds=[SCENARIO.group_kind],
        )
        self.engine: Engine | None = None
        self._continued = False
        self._past_ids: set[str] = set()
        shown = [*self.options.observers, *([publisher] if publisher is not None else [])]
        self.publisher = Publishers(shown) if shown else None
        self.scheduler: Scheduler | None = None
        """The embedded scheduler, once the run has started."""
        self._unsubscribe: list[Callable[[], None]] = []

    @property
    def is_over(self) -> bool:
        return self.status.phase in ("Succeeded", FAILED)

    @property
    def is_paused(self) -> bool:
        return self.status.phase == PAUSED

    @property
    def is_waiting(self) -> bool:
        """Whether only programs outside this process have work; iterate `run` again when they wake the caller."""
        return self.engine is not None and self.engine.controllers.is_waiting

    def run(self) -> Iterator[None]:
        """Run until Succeeded, Paused or Failed; yields after every loop."""
        engine = self.engine
        if engine is None:
            for wrong in self._problems():
                if wrong is not None:
                    self.fail(str(wrong))
                    return
                yield
            try:
                engine = self.start()
            except SnapshotError:
                # The input cannot be used: that is no result of the scenario.
                raise
            except SeatrialError as error:
                self.fail(str(error))
                return
            self._note_without_effect(engine)
        yield from engine.run()
        self._note_what_waits(engine)

    def _problems(self) -> Iterator[ScenarioError | None]:
        """What makes the scenario invalid; None now and then, so that a server can share its thread."""
        names = {*self.options.registry.names(), *self.options.outside}
        yield from problems_in_turns(self.document, self.plan.dialect, self.listed, names)
        if not self.options.has_scheduler and SCHEDULER not in self.options.outside and self._needs_scheduler():
            yield ScenarioError("", NO_SCHEDULER)

    def _needs_scheduler(self) -> bool:
        if not self.plan.dialect.minor_steps:
            return True
        chosen = Controllers.of(self.document)
        return SCHEDULER in enabled_names(chosen)

    def revise(self, listed: Sequence[bytes]) -> None:
        """Apply the whole list of a changed spec: future operations that it no longer contains are dropped."""
        given = {planned.id for planned in with_ids(listed)}
        self.plan.keep(given, -1 if self.status.major is None else self.status.major)
        self.listed = [planned for planned in self.listed if planned.id in given]
        self.add(listed)

    def add(self, listed: Sequence[bytes]) -> None:
        """Add operations of a changed spec: new ones are planned, those of a past step ignored."""
        current = -1 if self.status.major is None else self.status.major
        for planned in with_ids(listed, KnownOperations(past=(*self.plan.ids(), *self._past_ids))):
            if self.plan.knows(planned):
                continue
            wrong = next(operation_problems(planned, self.plan.dialect), None)
            if wrong is not None:
                self.fail(str(wrong))
                return
            self.listed = [other for other in self.listed if other.id != planned.id] + [planned]
            if self._is_past(planned.id, current):
                why = "it was carried out before: a change has no effect, and its id is not free"
                self.status.notes[planned.id] = f"operation {planned.id}: {why}"
            elif planned.step <= current:
                self.status.notes[planned.id] = f"operation {planned.id}: step {planned.step} is past, it is ignored"
            elif self.plan.has_id(planned.id):
                self.plan.replace(planned)
            else:
                self.plan.add(planned)

    def _is_past(self, id: str, current: int) -> bool:
        """Whether the timeline has an operation with this id."""
        step = self.plan.step_of(id)
        return id in self._past_ids or (step is not None and step <= current)

    def continue_from(self, status: Document) -> None:
        """Restore a Paused run of an earlier server process: its steps are past, its objects are stored."""
        step = (status.get("stepStatus") or {}).get("step")
        major = step.get("major") if isinstance(step, dict) else step
        self.status.phase, self.status.reason = PAUSED, str(status.get("message", ""))
        self.status.major = int(major) if major is not None else None
        self.status.step_phase = Phase.FINISHED
        self.status.published = len(self.status.pages)
        self.status.minor = int(step.get("minor", 0)) if isinstance(step, dict) else 0
        self.timeline.major, self.timeline.minor = self.status.major or 0, self.status.minor
        published = (status.get("scenarioResult") or {}).get("timeline") or {}
        self._past_ids = set(ids_in(published))
        self.timeline.resume(published)
        pasts = pasts_of_pods(published)
        pods = self.store.kinds.named("v1", "Pod")
        present = self.store.list(pods) if pods is not None else []
        # Time never goes back: it goes on where the earlier process left it.
        self.clock.advance(max((self.clock.now(), *map(_created_at, present))))
        for stored in present:
            self.timeline.adopt(stored, self.clock.now(), pasts.get(stored.document()["metadata"].get("uid", "")))
        self._unsubscribe.append(self.store.subscribe(self.timeline.listen))
        # What is adopted here has entries of earlier steps, unlike objects of a snapshot.
        self.timeline.unshown.restore(status.get(NOT_IN_TIMELINE) or {})
        self._continued = True

    def file_late_entries(self) -> None:
        """Put writes of other clients that were made while the scenario was Paused under the step it is in."""
        self.status.extend(self.timeline.major, self.timeline.finish_step())

    def fail(self, why: str) -> None:
        """End the run as Failed."""
        if self.engine is not None:
            self.engine.fail(why)
        else:
            self.status.phase, self.status.reason = FAILED, why
            self._show()

    def close(self) -> None:
        """Stop the controllers and unsubscribe from the store."""
        if self.engine is not None:
            self.engine.controllers.stop()
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
        yield from self.status.parts()
        yield b"}"

    def outline(self) -> bytes:
        """The Scenario with its status, encoded, without its operations and its timeline."""
        spec = {**(self.document.get("spec") or {}), self.plan.dialect.listing: []}
        result = {"simulatorVersion": self.status.version}
        return encode({**self.document, "spec": spec, "status": {**self.status.head(), "scenarioResult": result}})

    def spec_parts(self) -> Iterator[bytes]:
        spec = encode(self.document.get("spec") or {})[:-1]
        yield spec + (b"," if len(spec) > 1 else b"") + b'"%s":[' % self.plan.dialect.listing.encode()
        for place, planned in enumerate(self.listed):
            if place:
                yield b","
            yield planned.data
        yield b"]}"

    def make_scheduler(self) -> Scheduler:
        """A scheduler as the options choose it, on the cluster of the run."""
        return build_scheduler(self.store, self.clock, self.timeline, self.options)

    def _make_autoscaler(self, scheduler: Scheduler) -> Participant:
        from seatrial.scenario.autoscaler import ClusterAutoscaler, flags_of

        flags = flags_of(self.document["metadata"].get("annotations") or {})
        quiet = replace(self.options, reports_events=False, recorder=None, attempts=None)

        def simulate() -> Scheduler:
            return build_scheduler(self.store, self.clock, NoRecorder(), quiet)

        return ClusterAutoscaler(self.store, self.clock, scheduler, simulate, flags, self.options.seed)

    def start(self) -> Engine:
        """Load the snapshot, start the controllers and the scheduler; the engine that runs them."""
        registry, dialect, store, clock = self.options.registry, self.plan.dialect, self.store, self.clock
        chosen = Controllers.of(self.document)
        volcano = None
        if registry.uses_volcano(chosen, dialect):
            outer = step_duration(self.document) > 0
            volcano = volcano_maker(store, clock, self.timeline, self.options, outer=outer)
            # Volcano reports the attempts of a session after its binds.
            self.timeline.keeps_places = True
        if not self._continued:
            self.timeline.major = self.plan.first() or 0
            self._load_snapshot()
        scheduler = self.scheduler = self.make_scheduler()
        snapshot = self.options.snapshot
        if isinstance(snapshot, Snapshot) and not self._continued:
            scheduler.order_arrivals(snapshot.arrivals)
        self.status.notes.update((text, text) for text in scheduler.warnings())
        outside: dict[str, MakeParticipant] = {CLUSTER_AUTOSCALER: partial(self._make_autoscaler, scheduler)}
        outside |= {name: partial(make, self) for name, make in self.options.outside.items()}
        controllers = registry.build(chosen, dialect, store, clock, scheduler, volcano, outside)
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
        engine = Engine(
            self.store, self.clock, self.plan, self.status, self.timeline, controllers, settings, self.publisher
        )
        if not self._continued:
            self._unsubscribe.append(self.store.subscribe(self.timeline.listen))
        self._unsubscribe.append(self.store.subscribe(engine.loops.note))
        self.store.before_write = engine.about_to_write
        controllers.start()
        self.engine = engine
        return engine

    def _note(self, notes: Iterable[tuple[str, str]]) -> None:
        """Set notes of the message by key; an empty text removes the note."""
        before = dict(self.status.notes)
        for key, text in notes:
            self.status.notes.pop(key, None)
            if text:
                self.status.notes[key] = text
        if self.status.notes != before:
            self._show()

    def _note_what_waits(self, engine: Engine) -> None:
        controllers = engine.controllers
        if self.status.phase != FAILED:
            self._note(unserved(controllers))
        if (volcano := self.volcano) is not None:
            volcano.log.finish()
            self._note(waiting_jobs(volcano.waiting))
        failing = self._failing_pods()
        self.status.failing_pods = len(failing)
        self._note(errors(self.timeline.errors, failing))
        if not self.options.outside:
            self._note(unclaimed_pods(self.timeline.pods, self._scheduler_names(controllers)))

    @property
    def volcano(self) -> "VolcanoScheduler | None":
        """Volcano's scheduler, where it takes part and has started."""
        if self.engine is None:
            return None
        return volcano_of((*self.engine.controllers.preparing, *self.engine.controllers.simulated))

    def _failing_pods(self) -> list[str]:
        """Pending pods whose last attempt failed with an error, as namespace/name."""
        alive = ((key, self.timeline.pods.find(key)) for key in self.timeline.failing)
        return [key for key, history in alive if history is not None and history.is_pending]

    def _note_without_effect(self, engine: Engine) -> None:
        """Note parts of the spec that have no effect."""
        duration, chosen = engine.settings.step_duration, Controllers.of(self.document)
        found = list(idle_cron_jobs(self.listed, enabled_names(chosen), duration))
        if not duration and not self.options.drain:
            found += unused_timers(self.listed, self.options.snapshot)
        self._note(contradictions(chosen))
        self._note((text, text) for text in found)

    def _scheduler_names(self, controllers: SimulationControllers) -> set[str]:
        """The values of schedulerName that a scheduler of this run serves."""
        names: set[str] = set()
        for controller in (*controllers.preparing, *controllers.simulated):
            if isinstance(controller, SchedulerParticipant):
                names.update(controller.scheduler.profile_names())
            elif controller.name == VOLCANO:
                names.add(VOLCANO)
        return names

    def _load_snapshot(self) -> None:
        snapshot = self.options.snapshot
        for document in snapshot:
            check_annotations(document)
        path = snapshot.path if isinstance(snapshot, Snapshot) else ""
        for stored in restore_cluster(self.store, snapshot, SNAPSHOT, path):
            self.timeline.adopt(stored, self.clock.now())

    def _show(self) -> None:
        if self.publisher is not None:
            self.publisher.publish(self.status)


def _created_at(stored: Stored) -> int:
    return parse_time(stored.document()["metadata"]["creationTimestamp"])


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
