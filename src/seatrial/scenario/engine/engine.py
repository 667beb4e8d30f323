"""The engine: runs the steps of KEP-140, each until no controller has work.

One state machine of major and minor steps runs both spellings. A step carries out its operations, runs the
pre-simulation controllers until their queues are empty, and then runs the simulated controllers one by one until
none of them has work. `run` is a generator that yields after every loop, so a server can share its thread with it.

Time: the clock does not move while a controller has work. Otherwise it jumps to the next inner timer, or to an outer
one that is due before the next step begins; when no timer is left, all pending pods are retried (the forced sweep).
"""

from collections.abc import Iterator
from dataclasses import dataclass

from seatrial.clock import START, Clock
from seatrial.model.errors import SeatrialError
from seatrial.model.kinds import Kind
from seatrial.model.writers import is_user
from seatrial.scenario.engine.controller_set import SimulationControllers
from seatrial.scenario.engine.loop_limits import LoopCount
from seatrial.scenario.engine.operations import body_of, carry_out, is_done, verb_of
from seatrial.scenario.engine.participants import Awaited, Participant, Sweeper
from seatrial.scenario.engine.prepared_creates import PreparedCreates
from seatrial.scenario.spec.dialect import (
    FAILED,
    PAUSED,
    RUNNING,
    SCHEDULING,
    STOPPED,
    SUCCEEDED,
    WILL_RUN,
    WILL_STOP,
    Phase,
)
from seatrial.scenario.spec.operation_ids import Planned
from seatrial.scenario.spec.plan import Plan
from seatrial.scenario.status import Publisher, ResultsStrategy, ScenarioStatus
from seatrial.store import Store, Stored
from seatrial.timeline import Timeline
from seatrial.timeline.writes import counts
from seatrial.words import counted

SWEEPS = 2
"""A pod that nothing has happened to since an earlier step is tried twice by sweeps alone."""
SCHEDULER_STATUS = {Phase.OPERATED: WILL_RUN, Phase.RUNNING: SCHEDULING, Phase.COMPLETED: WILL_STOP}


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of the engine."""

    step_duration: int = 0
    drain: bool = False
    max_loops: int | None = None
    strategy: ResultsStrategy = ResultsStrategy.AT_MOVING_NEXT_STEP


class Engine:
    """Runs one scenario; after Paused it can continue when operations were added."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        plan: Plan,
        status: ScenarioStatus,
        timeline: Timeline,
        controllers: SimulationControllers,
        settings: Settings | None = None,
        publisher: Publisher | None = None,
    ) -> None:
        self.store, self.clock = store, clock
        self.plan, self.status, self.timeline = plan, status, timeline
        self.controllers = controllers
        self.settings = settings or Settings()
        self.loops = LoopCount(self.settings.max_loops, lambda: len(timeline.pods))
        self._publisher = publisher
        self._prepared = PreparedCreates(store)
        self._done = False
        self._in_loop = self._loop_wrote = False
        self._fired = 0
        """How many timers have fired."""
        self._swept: tuple[int, int] | None = None
        """The numbers of operations and fired timers at the last sweep."""
        self._sweeps = 0
        """How many sweeps there were since one of these changed."""
        self._idle: tuple[int, int] | None = None
        """The number of writes, and the latest timer that was set when it was reached."""

    def run(self) -> Iterator[None]:
        """Run until the phase is Succeeded, Paused or Failed."""
        self.status.phase, self.status.reason = RUNNING, ""
        self._show()
        try:
            while not all(controller.is_ready() for controller in self.controllers.awaited):
                yield from self.controllers.wait()
            while (step := self.plan.after(-1 if self.status.major is None else self.status.major)) is not None:
                yield from self.step(step)
                if self._done:
                    self._end(SUCCEEDED, f"done in step {step}")
                    return
        except SeatrialError as error:
            self.fail(str(error))
            return
        self._end(PAUSED, "all operations are carried out and none of them was Done")

    def fail(self, why: str) -> None:
        """End the scenario as Failed; the timeline of the current step is kept."""
        if self.status.step_phase is not Phase.FINISHED and self.status.major is not None:
            self.status.turn(self.status.major, self.timeline.finish_step())
        else:
            self.status.extend(self.timeline.major, self.timeline.finish_step())
        self._end(FAILED, why)

    def about_to_write(self, kind: Kind, previous: Stored | None, writer: str, subresource: str) -> None:
        """Called before a write is committed: the first operation of a simulated loop begins a new minor step."""
        if not self._in_loop or self._loop_wrote or is_user(writer) or not counts(kind, previous, writer, subresource):
            return
        self._loop_wrote = True
        self.status.minor += 1
        self.timeline.minor = self.status.minor
        self._phase(Phase.PAUSED)

    def step(self, step: int) -> Iterator[None]:
        """Run one major step: its operations, then the controllers until none can do anything more."""
        self.status.extend(self.timeline.major, self.timeline.finish_step())
        self.clock.advance(self._start_of(step))
        self.status.major, self.status.minor, self.status.running = step, 0, ""
        self.timeline.major, self.timeline.minor = step, 0
        self.loops.reset()
        self._phase(Phase.OPERATING)
        for planned in self.plan.at(step):
            self._operate(planned)
            yield
        yield from self._settle(all_controllers=True)
        self._phase(Phase.OPERATED)
        yield from self._simulate(step)
        self.timeline.finish_scheduling()
        self.status.turn(step, self.timeline.finish_step())
        if self.settings.strategy is ResultsStrategy.AT_MOVING_NEXT_STEP:
            self.status.published = len(self.status.pages)
        self._phase(Phase.FINISHED)

    def _operate(self, planned: Planned) -> None:
        known = self._prepared.find(planned)
        if known is not None:
            self.timeline.begin(planned.id, known.body)
            created = self._prepared.carry_out(planned, known)
            if created is not None:
                self.timeline.end("Create", created, self.clock.now())
                return
        operation, body = body_of(planned)
        verb = verb_of(operation)
        self.timeline.begin(planned.id, body)
        result: Stored | None = carry_out(self.store, planned, operation)
        self.timeline.end(verb, result, self.clock.now())
        if verb == "Create":
            self._prepared.learn(planned)
        self._done = self._done or is_done(operation)

    def _simulate(self, step: int) -> Iterator[None]:
        """Run the simulated controllers one by one until a whole round makes no operation."""
        limit = self._end_of(step)
        while True:
            before = self.timeline.operations
            for controller in self.controllers.simulated:
                self.status.running = controller.name
                self._phase(Phase.RUNNING)
                yield from self._run_controller(controller, limit)
                if self.status.dialect.minor_steps:
                    self._phase(Phase.COMPLETED)
            if self.timeline.operations == before or not self._has_work_left():
                break
        if not self.status.dialect.minor_steps:
            self._phase(Phase.COMPLETED)

    def _has_work_left(self) -> bool:
        simulated = self.controllers.simulated
        return any(
            controller.has_work() or (isinstance(controller, Sweeper) and self._may_sweep()) for controller in simulated
        )

    def _run_controller(self, controller: Participant, limit: int | None) -> Iterator[None]:
        """Run one simulated controller until it has no work and no timer may fire."""
        while True:
            if controller.has_work():
                yield from self._loop(controller)
            elif any(other.has_work() for other in self.controllers.simulated):
                return
            elif (is_outer := self._pass_time(limit)) is not None:
                yield from self._settle(all_controllers=is_outer or self.status.dialect.minor_steps)
            elif isinstance(controller, Sweeper) and self._may_sweep():
                self._sweep(controller)
            else:
                return

    def _loop(self, controller: Participant) -> Iterator[None]:
        self.loops.loop()
        self._in_loop, self._loop_wrote = True, False
        controller.work()
        if self.controllers.awaited:
            yield from self._await(controller)
        self.timeline.finish_loop()
        self._in_loop, has_written = False, self._loop_wrote
        yield
        everyone = self.status.dialect.minor_steps
        if not self.controllers.is_at_rest(all_controllers=everyone):
            yield from self._settle(all_controllers=everyone)
        if has_written:
            self._phase(Phase.OPERATED)
            self._phase(Phase.RUNNING)

    def _await(self, controller: Participant) -> Iterator[None]:
        """Wait until the turn of a program outside this process is over."""
        while isinstance(controller, Awaited) and controller.is_waiting():
            yield from self.controllers.wait()

    def _settle(self, *, all_controllers: bool) -> Iterator[None]:
        return self.controllers.settle(
            self.clock, self.loops, lambda: self.timeline.operations, all_controllers=all_controllers, warn=self._warn
        )

    def _pass_time(self, limit: int | None) -> bool | None:
        """Jump to the next timer that may fire in this step: True if it was an outer one, None if there is none."""
        inner, outer = self.clock.next_inner(), self.clock.next_outer()
        outer_may = outer is not None and (outer < limit if limit is not None else not self._is_drained(outer))
        if inner is None and not outer_may:
            return None
        is_outer = outer_may and (inner is None or (outer is not None and outer < inner))
        self._fired += 1
        if is_outer and outer is not None and outer > self.clock.now():
            self.loops.passed(bounded=limit is not None)
        # Inner timers are bounded by nothing but this count.
        self.loops.loop()
        self.clock.fire_next(outer=is_outer)
        return is_outer

    def _is_drained(self, due: int) -> bool:
        """Whether the remaining timers only set themselves again.

        Since the last write every timer that was set then has come due without any effect.
        """
        if self._idle is None or self._idle[0] != self.loops.writes:
            self._idle = self.loops.writes, self.clock.last_outer() or 0
        return due > self._idle[1]

    def _may_sweep(self) -> bool:
        if self._swept != (self.timeline.operations, self._fired):
            return True
        return self._sweeps < SWEEPS and self.timeline.is_barely_tried()

    def _sweep(self, controller: Sweeper) -> None:
        now = self.timeline.operations, self._fired
        self._sweeps = self._sweeps + 1 if self._swept == now else 1
        self._swept = now
        controller.sweep()

    def _start_of(self, step: int) -> int:
        return START + step * self.settings.step_duration

    def _end_of(self, step: int) -> int | None:
        """Until when outer timers fire in this step; None: until none is left."""
        following = self.plan.after(step)
        if self._done:
            following = None
        if following is None and self.settings.drain:
            return None
        return self._start_of(following if following is not None else step + 1)

    def _phase(self, phase: Phase) -> None:
        dialect = self.status.dialect
        if not dialect.phase(phase):
            return
        if not dialect.minor_steps and self.status.step_phase is phase:
            return
        if not dialect.minor_steps and phase is Phase.OPERATED and self.status.step_phase is not Phase.OPERATING:
            return
        self.status.step_phase = phase
        self.status.scheduler_status = SCHEDULER_STATUS.get(phase, STOPPED)
        self._show()

    def _end(self, phase: str, reason: str) -> None:
        self.status.phase, self.status.reason = phase, reason
        self.status.scheduler_status = STOPPED
        if phase != PAUSED or self.settings.strategy is not ResultsStrategy.ON_DONE:
            self.status.published = len(self.status.pages)
        self.status.not_in_timeline = self.timeline.unshown.document()
        without = self.timeline.attempts_without_cells
        if without and self.timeline.level == "full":
            shown = "`seatrial explain` shows their nodes and scores"
            self.status.notes["cells"] = f"result.json lists {counted(without, 'attempt')} by step only; {shown}"
        self._show()

    def _warn(self, text: str) -> None:
        self.status.notes[text] = text

    def _show(self) -> None:
        if self._publisher is not None:
            self._publisher.publish(self.status)
