"""Volcano's scheduler on a store: a session whenever something has changed, at most one every period.

Real Volcano opens a session every second whether or not anything has changed. What a session decides follows from the
cluster, so sessions that would see no change are left out; plugins that go by the clock say when they want one.

Upstream: pkg/scheduler/scheduler.go.
"""

from collections.abc import Callable, Sequence

from seatrial.clock import Clock, Timer
from seatrial.model.times import SECOND
from seatrial.scheduler import SCHEDULED, UNSCHEDULABLE, Decision, NoRecorder, Preemption, Recorder
from seatrial.scheduler.evaluator import chosen_shortcuts
from seatrial.scheduler.extender import HttpTransport, Transport
from seatrial.scheduler.schedule_one import SeededRandom
from seatrial.store import Store
from seatrial.volcano.apis import SCHEDULER_NAME
from seatrial.volcano.cache.scheduler_cache import SchedulerCache
from seatrial.volcano.cache.status_updater import StatusUpdater
from seatrial.volcano.cache.task_info import TaskInfo, TaskStatus
from seatrial.volcano.config.scheduler_conf import SchedulerConf, helm_conf
from seatrial.volcano.cycle import open_session, run_actions
from seatrial.volcano.framework.event_recorder import EventRecorder
from seatrial.volcano.framework.explanation import explain_pending
from seatrial.volcano.framework.explanation_words import JobWords
from seatrial.volcano.framework.job_updater import SessionResult
from seatrial.volcano.framework.session import Session, SessionOptions
from seatrial.volcano.metrics.measures import Measures, NoMeasures
from seatrial.volcano.session_log import SessionLog, SessionNotes

SCHEDULE_PERIOD = SECOND
EVICTS_NOTHING = frozenset(("enqueue", "allocate", "backfill"))
"""The actions that have nothing to do where no job and no task waits."""
OnSession = Callable[[Session, SessionResult], None]


class VolcanoScheduler:
    """A vc-scheduler. `outer`: its sessions wait for time that a scenario lets pass, see the clock."""

    name = SCHEDULER_NAME

    def __init__(
        self,
        store: Store,
        clock: Clock,
        conf: SchedulerConf | None = None,
        *,
        recorder: Recorder | None = None,
        notes: SessionNotes | None = None,
        tie_break: str = "name",
        seed: int = 0,
        events: bool = True,
        period: int = SCHEDULE_PERIOD,
        outer: bool = False,
        on_session: OnSession | None = None,
        measures: Measures | None = None,
        transport: Callable[[], Transport] = HttpTransport,
    ) -> None:
        self.conf = conf or helm_conf()
        shortcuts = chosen_shortcuts()
        self.cache = SchedulerCache(store, keeps=shortcuts.volcano_jobs)
        self._store, self._clock = store, clock
        self._recorder = recorder or NoRecorder()
        self._reports_events = events
        self._period, self._outer = period, outer
        self._on_session = on_session
        self._options = SessionOptions(
            keeps_columns=shortcuts.volcano_columns,
            keys_jobs=shortcuts.volcano_queues,
            pick=_pick(tie_break, seed),
            transport=transport,
            events=events,
            explains=notes is not None,
            measures=measures or NoMeasures(),
        )
        self._sessions = 0
        self._is_dirty = False
        self._next = clock.now()
        self._timer: Timer | None = None
        self.log = SessionLog(store, notes)
        """What the sessions said about jobs and queues."""

    @property
    def has_extenders(self) -> bool:
        """Whether sessions ask other programs, which may take long to answer."""
        return any(option.name == "extender" for tier in self.conf.tiers for option in tier)

    # -- life --------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Takes the cluster in, and runs a session at the next occasion."""
        self.cache.on_change = self._note_change
        self.cache.start()
        events = EventRecorder(self._store, self._clock) if self._reports_events else None
        self._updater = StatusUpdater(self._store, self._clock, self.cache, events, self._options.measures)
        self._is_dirty = True

    def stop(self) -> None:
        self.cache.stop()
        self._is_dirty = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def has_work(self) -> bool:
        """Whether a session is due and something has changed since the last one."""
        return self._is_dirty and self._clock.now() >= self._next

    def work(self) -> bool:
        """Runs one session with all its writes."""
        return self.schedule_one() is not None

    def wait_condition(self) -> bool:
        return not self._is_dirty

    def sweep(self) -> None:
        """Looks at everything pending once more, at once."""
        if self.cache.has_pending():
            self._is_dirty = True
            self._next = self._clock.now()

    def schedule_one(self) -> SessionResult | None:
        """Runs one session with all its writes; None if no session is due."""
        if not self.has_work():
            return None
        now = self._clock.now()
        self._is_dirty = False
        self._sessions += 1
        self._next = now + self._period
        with self._options.measures.timed("open_session_duration_milliseconds"):
            session = open_session(f"session-{self._sessions}", self.cache.snapshot(now), self.conf, self._options)
        result = run_actions(session)
        waiting = explain_pending(session)
        self.log.take(session, waiting)
        self._record(session, result, {each.job: self.log.words_of(each) for each in waiting})
        if self._on_session is not None:
            self._on_session(session, result)
        self._updater.write(session, result)
        if result.binds or result.evictions or (result.moved and (waiting or self._may_evict(session))):
            self._note_change()
        self._wake_for_plugins(session)
        session.release()
        return result

    @property
    def waiting(self) -> list[JobWords]:
        """Why jobs wait, as of the last session."""
        return list(self.log.waiting())

    def _may_evict(self, session: Session) -> bool:
        """Whether phases that have changed let the next session decide anything although no job waits."""
        return not EVICTS_NOTHING.issuperset(session.conf.actions)

    # -- time --------------------------------------------------------------------------------------------------

    def _note_change(self) -> None:
        self._is_dirty = True
        self._wake_at(self._next)

    def _wake_for_plugins(self, session: Session) -> None:
        """A session when a plugin that goes by the clock may decide otherwise."""
        wishes = [wish for plugin in session.plugins.values() if (wish := plugin.wakes_at()) is not None]
        if wishes:
            self._clock.at(max(min(wishes), self._next), self._note_change, outer=True)

    def _wake_at(self, when: int) -> None:
        """Sees to it that time comes to the next session."""
        if when <= self._clock.now() or (self._timer is not None and not self._timer.cancelled):
            return

        def come() -> None:
            # A session may have run at this very moment, before the timer: then the next one is due later.
            self._timer = None
            if self._is_dirty:
                self._wake_at(self._next)

        self._timer = self._clock.at(when, come, outer=self._outer)

    # -- record ------------------------------------------------------------------------------------------------

    def _record(self, session: Session, result: SessionResult, explained: dict[str, JobWords]) -> None:
        """Tells the recorder of every task that was bound or looked at in vain."""
        if isinstance(self._recorder, NoRecorder):
            return
        victims: dict[str, list[str]] = {}
        for task, _ in result.evictions:
            victims.setdefault(task.node_name, []).append(task.key)
        for task in result.binds:
            self._recorder.record(self._decision(session, task, SCHEDULED, task.node_name))
        for job in session.jobs.values():
            waiting = [*job.index.listed(TaskStatus.PENDING), *job.index.listed(TaskStatus.PIPELINED)]
            why = explained[job.uid] if waiting else None
            for task in waiting:
                evicted = victims.get(task.node_name, ()) if task.eviction_occurred else ()
                self._recorder.record(self._decision(session, task, UNSCHEDULABLE, "", why, evicted))

    def _decision(
        self,
        session: Session,
        task: TaskInfo,
        outcome: str,
        node: str,
        why: JobWords | None = None,
        victims: Sequence[str] = (),
    ) -> Decision:
        return Decision(
            pod=task.key,
            uid=task.uid,
            profile=SCHEDULER_NAME,
            outcome=outcome,
            at=self._clock.now(),
            node=node,
            nominated_node=task.node_name if victims else "",
            message=why.text if why is not None else "",
            nodes_total=len(session.node_list),
            preemption=Preemption(task.node_name, tuple(victims)) if victims else None,
            rejected_by=(why.plugin,) if why is not None and why.plugin else (),
        )


def _pick(tie_break: str, seed: int) -> Callable[[Sequence[str]], str]:
    """Picks one of several equal nodes: the lowest name, or a seeded random one (upstream's is random)."""
    if tie_break != "random":
        return min
    dice = SeededRandom(seed)
    return lambda names: names[dice.randrange(len(names))]
