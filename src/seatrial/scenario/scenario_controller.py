"""The scenario controller: runs the Scenarios of a store one at a time, in the order of their creation.

It is a worker like any other controller: each `work` is one loop of the run, so requests of other clients are
answered in between. While a scenario runs or is Paused, the real-time workers are suspended, the store's clock is
virtual, and writes of other clients are reported.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from seatrial.clock import Clock
from seatrial.model.documents import encode
from seatrial.model.errors import SeatrialError
from seatrial.model.writers import is_user, user_of
from seatrial.scenario.kept_timelines import KeptTimelines
from seatrial.scenario.options import SimulationOptions
from seatrial.scenario.reset import wipe
from seatrial.scenario.scenario_reader import ScenarioReader
from seatrial.scenario.scenario_resource import WRITER, StoredStatus, dialect_in, install, metadata_in, status_of
from seatrial.scenario.scenario_run import ScenarioRun
from seatrial.scenario.spec.dialect import FAILED, PAUSED, PENDING, RUNNING
from seatrial.scenario.spec.kind import FOREIGN_WRITES, SCENARIO
from seatrial.scenario.status import MemoryPages, ScenarioStatus
from seatrial.store import Change, SeededIdentities, Store, Stored
from seatrial.timeline import Dictionary, TimelineReader
from seatrial.timeline.rows import Rows
from seatrial.timeline.writes import QUIET_KINDS

RESTARTED = "the controller restarted while the Scenario was running"
STOPPED = "the server was stopped while the Scenario was running"
RECONFIGURED = "the scheduler configuration was changed while the Scenario was running"
RESET = "the simulator was reset while the Scenario was running"
NAMED_WRITES = 3

log = logging.getLogger("seatrial.scenario")


class FreeMode(Protocol):
    """The workers that run in real time while no scenario runs."""

    def suspend(self) -> None: ...

    def resume(self) -> None: ...


class ScenarioController:
    """Runs Scenarios; a worker of the server."""

    def __init__(
        self,
        store: Store,
        free: FreeMode,
        options: Callable[[], SimulationOptions] = SimulationOptions,
        *,
        strict: bool = False,
        timelines: KeptTimelines | None = None,
    ) -> None:
        """`options` gives those of the next run, since the configuration of the scheduler may change in between."""
        self.store = store
        self.run: ScenarioRun | None = None
        self._free, self._options, self._strict = free, options, strict
        self._timelines = timelines
        self._status: StoredStatus | None = None
        self._running: Iterator[None] | None = None
        self._waiting: dict[str, None] = {}
        self._unmarked: dict[str, None] = {}
        self._foreign: list[str] = []
        self._changed = False
        self._woken = False
        self._wake_caller: Callable[[], object] | None = None
        self._is_held = False
        self._reader = ScenarioReader()
        self._kept = store.clock, store.identities

    def start(self) -> None:
        """Serve Scenarios, and recover those of an earlier server process."""
        install(self.store)
        for stored in sorted(self.store.list(SCENARIO), key=_creation):
            phase = status_of(stored).get("phase")
            if phase == RUNNING:
                self._mark(stored, FAILED, RESTARTED)
            elif phase == PAUSED and self.run is None:
                self._resume_paused(stored)
            elif phase in (None, "", PENDING):
                self._waiting[stored.name] = self._unmarked[stored.name] = None
        self.store.subscribe(self._notice)

    def has_work(self) -> bool:
        return bool(self._unmarked) or self._can_go_on() or self._changed or self._can_begin()

    def work(self) -> bool:
        """Run one loop of the scenario, or one task of the controller itself."""
        if self._unmarked:
            self._show_pending()
        elif self._changed and self.run is not None:
            self._revise(self.run)
        elif self._running is not None and self._can_go_on():
            self._go_on(self._running)
        elif self._can_begin():
            self._begin()
        else:
            return False
        return True

    def configuration_changed(self) -> None:
        """Fail a running scenario because the scheduler configuration was changed."""
        if self.run is not None:
            self._fail(RECONFIGURED)

    def shut_down(self) -> None:
        """Fail a Running scenario because the server stops; a Paused one stays as it is."""
        if self.run is not None and self._running is not None:
            self._fail(STOPPED)

    def reset(self) -> None:
        """Remove every Scenario and everything else that a wipe removes."""
        if self.run is not None:
            self._fail(RESET)
        for stored in self.store.list(SCENARIO):
            self.store.delete(SCENARIO, stored.name, writer=WRITER)
        self._free.suspend()
        wipe(self.store, WRITER)
        self._free.resume()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Suspend the real-time workers, and begin no scenario, while a whole cluster is written."""
        if self.run is not None:
            yield
            return
        self._is_held = True
        self._free.suspend()
        try:
            yield
        finally:
            self._is_held = False
            self._free.resume()

    def wake_by(self, wake: Callable[[], object]) -> None:
        """`wake` may be called on any thread when there is work again."""
        self._wake_caller = wake

    def wake(self) -> None:
        """Continue the run: a program outside this process has ended its turn. May be called on any thread."""
        self._woken = True
        if self._wake_caller is not None:
            self._wake_caller()

    def _can_go_on(self) -> bool:
        return self._running is not None and (self._woken or self.run is None or not self.run.is_waiting)

    def _update_pending(self) -> None:
        """Bring the messages of Pending Scenarios up to date: another one runs, or its phase has changed."""
        self._unmarked.update(self._waiting)

    def _can_begin(self) -> bool:
        return self.run is None and bool(self._waiting) and not self._is_held and not self._reader.is_busy

    def _begin(self) -> None:
        name = next(iter(self._waiting))
        stored = self.store.find(SCENARIO, name)
        if stored is not None and self._wake_caller is not None and not self._reader.has_read(stored):
            self._reader.read(stored, self._options().memory, self._wake_caller)
            return
        del self._waiting[name]
        if stored is None:
            return
        self._free.suspend()
        wipe(self.store, WRITER)
        run = self._create_run(stored)
        if run is not None:
            self._running = run.run()

    def _create_run(self, stored: Stored, *, pages: MemoryPages | None = None) -> ScenarioRun | None:
        clock, options = Clock(), self._options()
        self.store.clock, self.store.identities = clock, SeededIdentities(options.seed)
        self._status = StoredStatus(self.store, stored)
        self._foreign = []
        rows, dictionary = self._open_timeline(metadata_in(stored)["uid"], is_new=pages is None)
        try:
            document, expanded = self._reader.result(stored, options.memory)
            run = ScenarioRun(
                document, self.store, clock, options,
                pages=pages, rows=rows, dictionary=dictionary, publisher=self._status, expanded=expanded,
            )  # fmt: skip
        except SeatrialError as error:
            self._resume_real_time()
            self._mark(stored, FAILED, str(error))
            return None
        self.run = run
        self._update_pending()
        return run

    def _go_on(self, running: Iterator[None]) -> None:
        run = self.run
        assert run is not None
        self._woken = False
        try:
            next(running)
        except StopIteration:
            self._running = None
        except SeatrialError as error:
            self._fail(str(error))
            return
        except Exception as error:
            self._fail(f"{type(error).__name__}: {error}")
            log.exception("Scenario %s", run.document["metadata"]["name"])
            return
        if run.is_over:
            self._end(run)
        elif self._running is None:
            self._keep_timeline(run)
            self._update_pending()

    def timeline_of(self, name: str) -> TimelineReader | None:
        """The whole timeline of a Scenario up to now; NotFound without the Scenario, None where none was kept."""
        uid = metadata_in(self.store.get(SCENARIO, name))["uid"]
        if self.run is not None and self.run.document["metadata"]["uid"] == uid:
            self._keep_timeline(self.run)
        return self._timelines.read(uid) if self._timelines is not None else None

    def _open_timeline(self, uid: str, *, is_new: bool) -> tuple[Rows | None, Dictionary | None]:
        if self._timelines is None:
            return None, None
        if is_new:
            self._timelines.forget(uid)
        return self._timelines.rows(uid), self._timelines.dictionary(uid)

    def _keep_timeline(self, run: ScenarioRun) -> None:
        if self._timelines is None:
            return
        uid = run.document["metadata"]["uid"]
        stored = self.store.find(SCENARIO, run.document["metadata"]["name"])
        if stored is None or metadata_in(stored)["uid"] != uid:
            self._timelines.forget(uid)
            return
        try:
            self._timelines.keep(uid, run.timeline)
        except OSError as error:
            log.error("the timeline of Scenario %s cannot be kept: %s", run.document["metadata"]["name"], error)

    def _end(self, run: ScenarioRun) -> None:
        self._keep_timeline(run)
        run.close()
        self._running = None
        self.run = None
        self._changed = False
        self._resume_real_time()

    def _resume_real_time(self) -> None:
        simulated, (self.store.clock, self.store.identities) = self.store.clock, self._kept
        self.store.clock.simulated_until = simulated.now()
        self._free.resume()

    def _fail(self, why: str) -> None:
        assert self.run is not None
        self.run.fail(why)
        self._end(self.run)

    def _revise(self, run: ScenarioRun) -> None:
        """Apply a change or the deletion of the Scenario that runs."""
        self._changed = False
        stored = self.store.find(SCENARIO, run.document["metadata"]["name"])
        if stored is None:
            self._end(run)
            return
        spec = stored.document().get("spec") or {}
        run.revise([encode(item) for item in spec.get(run.plan.dialect.listing) or []])
        if run.is_over:
            self._end(run)
        elif self._running is None:
            current = -1 if run.status.major is None else run.status.major
            if run.plan.after(current) is not None:
                self._running = run.run()
                self._update_pending()
            elif self._status is not None:
                run.file_late_entries()
                self._status.publish(run.status)

    def _resume_paused(self, stored: Stored) -> None:
        """Restore a Paused Scenario of an earlier server process, so that it can continue."""
        self._free.suspend()
        status = stored.document().get("status") or {}
        timeline = (status.get("scenarioResult") or {}).get("timeline") or {}
        pages = MemoryPages()
        for step in sorted(timeline, key=int):
            pages.append((b'"%s":' % step.encode(), encode(timeline[step])))
        run = self._create_run(stored, pages=pages)
        if run is not None:
            run.continue_from(status)

    def _show_pending(self) -> None:
        name = next(iter(self._unmarked))
        del self._unmarked[name]
        stored = self.store.find(SCENARIO, name)
        if stored is None or name not in self._waiting:
            return
        status, why = status_of(stored), self._why_pending(name)
        if (status.get("phase") or "", status.get("message", "")) != (PENDING, why):
            self._mark(stored, PENDING, why)

    def _why_pending(self, name: str) -> str:
        """Scenarios run one at a time, in the order of their creation."""
        if self.run is None:
            return ""
        current, phase = self.run.document["metadata"]["name"], self.run.status.phase
        before = list(self._waiting)[: list(self._waiting).index(name)]
        queue = f", behind {before[-1]}" if before else ""
        remedy = "; it ends with Done, or when it is deleted" if phase == PAUSED else ""
        return f"waits for Scenario {current}, which is {phase}{queue}{remedy}"

    def _mark(self, stored: Stored, phase: str, reason: str) -> None:
        """Set the phase of a Scenario that does not run; its result stays."""
        head = ScenarioStatus(dialect_in(stored), "", phase=phase, reason=reason).head()
        StoredStatus(self.store, stored).mark(head)

    def _notice(self, change: Change) -> None:
        stored = change.stored
        self._woken = True
        if stored.kind.group_kind == SCENARIO.group_kind:
            self._notice_scenario(change)
        elif self.run is not None and is_user(change.writer) and stored.kind.group_kind not in QUIET_KINDS:
            self._notice_foreign(change, self.run)

    def _notice_scenario(self, change: Change) -> None:
        name = change.stored.name
        if change.writer == WRITER:
            return
        if change.type == "ADDED":
            self._waiting[name] = self._unmarked[name] = None
        elif self.run is not None and name == self.run.document["metadata"]["name"]:
            self._changed = True
        elif change.type == "DELETED":
            if self._timelines is not None:
                self._timelines.forget(metadata_in(change.stored)["uid"])
            self._waiting.pop(name, None)
            self._unmarked.pop(name, None)

    def _notice_foreign(self, change: Change, run: ScenarioRun) -> None:
        """Report a foreign write: only the scenario and its controllers should write while it runs (KEP-140)."""
        stored = change.stored
        verb = {"ADDED": "created", "MODIFIED": "changed", "DELETED": "deleted"}[change.type]
        where = f"{stored.namespace}/{stored.name}" if stored.namespace else stored.name
        self._foreign.append(f"{user_of(change.writer)} {verb} {stored.kind.kind} {where}")
        more = len(self._foreign) - NAMED_WRITES
        text = f"ForeignWrite: {', '.join(self._foreign[:NAMED_WRITES])}" + (f" and {more} more" if more > 0 else "")
        annotations = run.document["metadata"].get("annotations") or {}
        if self._strict or annotations.get(FOREIGN_WRITES) == "strict":
            run.fail(text)
            self._running = iter(())
        else:
            run.status.notes["foreign"] = text
            self._changed = self._changed or self._running is None


def _creation(stored: Stored) -> tuple[str, int]:
    return metadata_in(stored).get("creationTimestamp", ""), stored.revision
