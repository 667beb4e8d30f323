"""The scheduler: takes pods from the queue one by one and finds a node for each, or the reason why there is none.

`Scheduler.schedule_one` is one attempt with all its writes; the folder `schedule_one` has its parts. Nothing happens
between two calls: what other parts of the cluster write in the meantime reaches the scheduler as changes of the store.
Upstream: pkg/scheduler/schedule_one.go (v1.36.3).
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from seatrial.clock import Clock
from seatrial.model.errors import SeatrialError
from seatrial.model.times import SECOND
from seatrial.scheduler.cache.event_handlers import EventHandlers
from seatrial.scheduler.cache.node_table import NodeTable
from seatrial.scheduler.cache.pod_info import PodInfo, PodReader
from seatrial.scheduler.cache.store_cluster import StoreClient, StoreCluster
from seatrial.scheduler.config import Configuration, default_configuration
from seatrial.scheduler.evaluator.shortcuts import Shortcuts, chosen_shortcuts
from seatrial.scheduler.evaluator.unschedulable_cache import Failure, UnschedulableCache
from seatrial.scheduler.extender.encoded_objects import StoreObjects
from seatrial.scheduler.extender.extender import ExtenderSet, HttpExtender, Transport, tie_break_for
from seatrial.scheduler.framework.events import ASSIGNED_DELETE
from seatrial.scheduler.framework.interface import Handle, Plugin
from seatrial.scheduler.framework.pre_bind import PodsInPreBind
from seatrial.scheduler.framework.waiting_pods import WaitingPods
from seatrial.scheduler.metrics import Meter, SchedulerMetrics
from seatrial.scheduler.metrics.gauges import gauges_of
from seatrial.scheduler.plugins.out_of_tree_warnings import plugin_warnings
from seatrial.scheduler.plugins.registry import Registry
from seatrial.scheduler.preemption.executor import Executor, RunningPreemptions
from seatrial.scheduler.profile import Profiles, build_profiles
from seatrial.scheduler.queue import PodNominator, QueuedPod, SchedulingQueue, arrival_order
from seatrial.scheduler.schedule_one.batch import Batches
from seatrial.scheduler.schedule_one.binding_cycle import Background, Binder, Binding
from seatrial.scheduler.schedule_one.decision import ERROR, UNSCHEDULABLE, WAITING, Decision
from seatrial.scheduler.schedule_one.event_series import EventReporter
from seatrial.scheduler.schedule_one.pod_status import PodStatusWriter
from seatrial.scheduler.schedule_one.recorder import NoRecorder, Recorder
from seatrial.scheduler.schedule_one.schedule_one import Algorithm, Attempt
from seatrial.scheduler.schedule_one.seeded_random import SeededRandom
from seatrial.store import Store


class Scheduler:
    """A kube-scheduler on a store. `plugins` are classes of users' plugins that a configuration may enable.

    A user's plugin that raises fails the attempt. A pod whose attempts fail three times with the same error while
    nothing changes rests until something does; `retries_errors` goes on trying as kube-scheduler does in real time.
    """

    name = "scheduler"

    def __init__(
        self,
        store: Store,
        clock: Clock,
        config: Configuration | None = None,
        *,
        recorder: Recorder | None = None,
        tie_break: str = "upstream",
        seed: int = 0,
        plugins: Iterable[type[Plugin]] = (),
        transport: Transport | None = None,
        events: bool = True,
        background: Background | None = None,
        retries_errors: bool = False,
        shortcuts: Shortcuts | None = None,
        stopwatch: Callable[[], float] | None = None,
    ) -> None:
        self._shortcuts = shortcuts or chosen_shortcuts()
        self.store, self.clock = store, clock
        self.recorder: Recorder = recorder or NoRecorder()
        self.metrics = SchedulerMetrics()
        self._meter = Meter(self.metrics, stopwatch) if stopwatch is not None else None
        self._plugins = tuple(plugins)
        self._registry = Registry(self._plugins)
        self._retries_errors = retries_errors
        self._tie_break, self._seed = tie_break, seed
        self._transport = transport
        self._reports_events = events
        self._background = background
        self._is_running = False
        self._arrivals: Mapping[str, int] = {}
        self._build(config or default_configuration())

    # -- life --------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Read the present cluster and subscribe to changes."""
        if not self._is_running:
            self._is_running = True
            self._watcher.start()

    def order_arrivals(self, places: Mapping[str, int]) -> None:
        """Before the start: pods (by namespace/name) that are tried first, and in this order."""
        if places:
            self._arrivals = places
            self._build(self.configuration)

    def stop(self) -> None:
        """Unsubscribe and forget the cluster; a new start reads it again."""
        if self._is_running:
            self._is_running = False
            self._watcher.stop()
            self.queue.close()
            self._waiting.close()
            if self._events is not None:
                self._events.close()
            self._pre_binding.close()
            self._build(self.configuration)

    def close(self) -> None:
        """Stop, and let go of connections to extenders."""
        self.stop()
        close = getattr(self._transport, "close", None)
        if close is not None:
            close()

    def reconfigure(self, config: Configuration) -> None:
        """Go on with another configuration, as a restarted kube-scheduler would; a bad one leaves the old in force."""
        was_running, old = self._is_running, self.configuration
        self.stop()
        try:
            self._build(config)
        except SeatrialError:
            self._build(old)
            raise
        finally:
            if was_running:
                self.start()

    def metrics_text(self) -> str:
        """All metrics in Prometheus' text format."""
        return self.metrics.text(gauges_of(self.queue, self.table, self._watcher))

    @property
    def has_extenders(self) -> bool:
        """Whether an attempt may wait for an answer from outside."""
        return self._extenders is not None

    @property
    def watcher(self) -> EventHandlers:
        """What keeps the picture of the cluster; a stop replaces it."""
        return self._watcher

    def warnings(self) -> list[str]:
        """What is probably a mistake in users' plugins and their configuration."""
        return plugin_warnings(self._plugins, self.configuration)

    def profile_names(self) -> list[str]:
        """The names of its profiles: the values of schedulerName whose pods it takes."""
        return list(self.frameworks)

    def has_work(self) -> bool:
        """Whether an attempt can be made without time passing."""
        held = self._waiting.settled or self._pre_binding.settled or self._binder.answered
        return self.queue.has_work() or bool(held)

    def sweep(self) -> None:
        """Bring every pending pod back for one more try, whether or not anything has happened."""
        self.queue.sweep()

    def schedule_one(self) -> Decision | None:
        """One attempt with all its writes; None if no pod is ready to be tried."""
        if self._waiting.settled or self._pre_binding.settled or self._binder.answered:
            return self._resume()
        queued = self._next()
        return None if queued is None else self._attempt(queued)

    def _resume(self) -> Decision:
        """Goes on with a binding that Permit, PreBind or an extender has held."""
        settled = self._waiting.take_settled()
        if settled is not None:
            assert settled.status is not None
            waited = (self.clock.now() - settled.since) / SECOND
            self.metrics.observe("permit_wait_duration_seconds", waited, settled.status.code.text)
            self._decide_again(settled.binding)
            return self._conclude(self._binder.resume(settled.binding, settled.status))
        pre_bound = self._pre_binding.take_settled()
        if pre_bound is not None:
            assert pre_bound.status is not None
            self._decide_again(pre_bound.binding)
            return self._conclude(self._binder.resume_pre_bind(pre_bound.binding, pre_bound.status))
        self._decide_again(self._binder.next_answered())
        return self._conclude(self._binder.take_answer())

    def propose(self, namespace: str, name: str) -> Attempt | None:
        """The scheduling cycle of a pending pod without any of its writes; None where it is not pending here."""
        pod = self._watcher.pods.get(f"{namespace}/{name}")
        framework = self.frameworks.get(pod.shape.scheduler_name) if pod is not None and not pod.node else None
        if pod is None or framework is None:
            return None
        if self._extenders is not None:
            self._extenders.begin()
        return self.algorithm.schedule(framework, pod, self.recorder.keeps_cells)

    # -- attempts ----------------------------------------------------------------------------------------------------

    def _next(self) -> QueuedPod | None:
        """The next pod that is to be scheduled: not one that is being deleted or on its way already."""
        while (queued := self.queue.pop()) is not None:
            pod = queued.pod
            if not pod.deleting and pod.uid not in self._watcher.assumed:
                return queued
            if pod.deleting and self._events is not None:
                text = f"skip schedule deleting pod: {pod.namespace}/{pod.name}"
                self._events.failed(pod, text, pod.shape.scheduler_name)
            self.queue.done(pod.uid)
        return None

    def _attempt(self, queued: QueuedPod) -> Decision:
        if self._extenders is not None:
            self._extenders.begin()
        pod = queued.pod
        framework = self.frameworks[pod.shape.scheduler_name]
        if self._to_activate.pods:
            self._to_activate.take()
        known = None if self._memory is None else self._memory.recall(framework, pod, self.algorithm.start)
        if self._memory is not None and known is not None and self._shows_enough(known.decision):
            return self._repeat(queued, known, self._memory)
        start = self._meter.begin() if self._meter is not None else 0.0
        batching = None if self._batches is None else self._batches.begin(queued, self.queue.cycle)
        attempt = self.algorithm.schedule(framework, pod, self.recorder.keeps_cells, batching)
        if self._meter is not None:
            self._meter.scheduled(attempt, start)
        if attempt.node:
            given = None if attempt.given is None else attempt.given_node()
            node = given or self.table.info(self.table.row_of[attempt.node])
            decision = self._decision(queued, attempt)
            self.recorder.decided(decision)
            return self._conclude(self._binder.begin(queued, attempt, node, decision))
        failure = Failure.of(attempt, self._decision(queued, attempt), self.algorithm.start)
        self.recorder.decided(failure.decision)
        preemption, is_async = self._executor.prepare(pod, attempt.post_filter), self._executor.is_async
        has_failed = preemption is not None and not is_async and self._executor.carry_out(preemption)
        nominated = "" if has_failed else failure.nominated
        self._fail(queued, attempt.message, failure.rejectors, failure.pending, nominated)
        if self._memory is not None:
            self._memory.remember(failure)
        if preemption is not None:
            self.metrics.preempted(len(preemption.victims))
            if is_async and (reason := self._executor.carry_out(preemption)):
                self.queue.activate_after_failure(queued, reason)
        return self._recorded(failure.decision)

    def _shows_enough(self, decision: Decision) -> bool:
        """Whether a decision has the cells that the recorder would keep: a bounded one may have room for them again."""
        return len(decision.verdicts) == len(decision.visited) or not self.recorder.keeps_cells(len(decision.visited))

    def _repeat(self, queued: QueuedPod, known: Failure, memory: UnschedulableCache) -> Decision:
        """Repeats the outcome of an equal pod's attempt."""
        decision = known.told_of(queued, self.clock.now())
        self.recorder.decided(decision)
        self._fail(queued, known.attempt.message, known.rejectors, known.pending, known.nominated)
        memory.renew(known)
        if self._batches is not None:
            self._batches.begin(queued, self.queue.cycle).take_hint(known.attempt)
        if self._meter is not None:
            self._meter.repeated(known.attempt)
        return self._recorded(decision)

    def _decide_again(self, binding: Binding) -> None:
        """A binding that was held goes on: its decision is made at this time."""
        binding.decision = replace(binding.decision, at=self.clock.now(), attempt=binding.queued.attempts)
        self.recorder.decided(binding.decision)

    def _conclude(self, binding: Binding) -> Decision:
        """Records a binding that is finished, held or failed; a failed pod goes back to the queue."""
        failure, decision = binding.failure, binding.decision
        if binding.is_bound_plainly and self._extenders is None and self._meter is None:
            return self._recorded(decision)
        more = self._extender_answers() | binding.details
        if failure is None:
            if binding.outcome == WAITING:
                more["outcome"] = WAITING
            elif self._meter is not None:
                self.metrics.bound(binding.queued, self.clock.now())
            return self._recorded(replace(decision, **more) if more else decision)
        outcome = UNSCHEDULABLE if failure.is_rejected else ERROR
        rejectors = tuple(sorted(binding.rejectors))
        more |= {"outcome": outcome, "message": binding.message, "node": "", "rejected_by": rejectors}
        assumed, own = binding.assumed, binding.assumed.uid
        if binding.is_late and not failure.is_rejected:
            self.queue.move_all(ASSIGNED_DELETE, assumed, None)
        self._fail(binding.queued, binding.message, binding.rejectors, frozenset(), "")
        if binding.is_late and failure.is_rejected:
            self.queue.move_all(ASSIGNED_DELETE, assumed, None, lambda pod: pod.uid != own)
        return self._recorded(replace(decision, **more))

    def _fail(
        self, queued: QueuedPod, message: str, unschedulable: frozenset[str], pending: frozenset[str],
        nominated: str | None,
    ) -> None:  # fmt: skip
        """An attempt has failed: the pod goes back to the queue, and its status and an Event give the reason."""
        queued.unschedulable_plugins, queued.pending_plugins = unschedulable, pending
        pod, tried = self._watcher.present(queued.pod), queued.pod
        if pod is None:
            self.queue.done(tried.uid)
            if self._events is not None and tried.key not in self._watcher.pods:  # deleted while PreBind waited
                self._events.failed(tried, message, tried.shape.scheduler_name)
            return
        queued.pod = pod
        self.queue.add_unschedulable(queued, message)
        self.nominator.nominate(pod, nominated)
        if self._events is not None:
            self._events.failed(pod, message, pod.shape.scheduler_name)
        reason = "Unschedulable" if unschedulable or pending else "SchedulerError"
        if queued.last_status != (pod, reason, message, nominated):
            self._status.not_scheduled(pod, reason, message, nominated)
            queued.last_status = (self._watcher.pods.get(pod.key, pod), reason, message, nominated)

    def _decision(self, queued: QueuedPod, attempt: Attempt) -> Decision:
        kept = not isinstance(self.recorder, NoRecorder)
        more = {} if self._extenders is None else self._extender_answers()
        return attempt.decision(self.clock.now(), queued.attempts, self.recorder.wants_cells, kept, **more)

    def _extender_answers(self) -> dict[str, Any]:
        if self._extenders is None or not self._extenders.answers:
            return {}
        return {"extenders": {verb: tuple(answers) for verb, answers in self._extenders.answers.items()}}

    def _recorded(self, decision: Decision) -> Decision:
        if self._meter is not None:
            self.metrics.attempted(decision)
        self.recorder.record(decision)
        return decision

    # -- parts -------------------------------------------------------------------------------------------------------

    def _build(self, configuration: Configuration) -> None:
        """Build all parts for a configuration."""
        self.configuration = configuration
        store, clock = self.store, self.clock
        self.table = NodeTable()
        self.cluster = StoreCluster(store)
        reader = PodReader(configuration.gates, configuration.version.rules)
        names, gates = configuration.profile_names, configuration.gates
        self._watcher = EventHandlers(store, self.table, self.cluster, names, reader, gates)
        self.nominator = PodNominator(self._watcher.present)
        self._waiting = WaitingPods(clock)
        self._preempting = RunningPreemptions(self._watcher.pods.get)
        self._pre_binding = PodsInPreBind(clock)
        self._watcher.pre_binding = self._pre_binding
        self._extenders = self._build_extenders(configuration)
        handle = self._build_handle(configuration)
        self._to_activate = handle.pods_to_activate
        profiles = build_profiles(configuration, self._registry, handle)
        self.frameworks, frameworks = profiles.frameworks, profiles.frameworks.values()
        self.queue = self._watcher.queue = self._build_queue(profiles)
        self._watcher.on_assumed_deleted = self._reject_waiting
        self.algorithm = Algorithm(
            self.table,
            self.nominator,
            percentage=configuration.percentage_of_nodes_to_score,
            tie_break=tie_break_for(self._tie_break, SeededRandom(self._seed), self._extenders),
            extenders=self._extenders,
            shortcuts=self._shortcuts,
        )
        self._memory: UnschedulableCache | None = None
        if self._shortcuts.failures and self._extenders is None:
            self._memory = UnschedulableCache(self.table, self.cluster, self.nominator, frameworks)
        self._build_writers()
        self._batches: Batches | None = None
        if configuration.is_on("OpportunisticBatching"):
            batches = Batches(frameworks, self.table, clock.now, self.metrics.inc, self._extenders is not None)
            if self._meter is not None:
                self._meter.attach_batches(batches)
            if self._meter is not None or batches.can_sign:
                self._batches, self.queue.sign = batches, batches.sign
        if self._meter is not None:
            self._meter.attach(frameworks, self.algorithm.evaluator, self.queue, self._watcher, self.table)

    def _build_handle(self, configuration: Configuration) -> Handle:
        """What plugins are given to work with."""
        return Handle(
            self.cluster,
            self.table,
            self.nominator,
            StoreClient(self.store),
            configuration.gates,
            self.clock.now,
            version=configuration.version,
            shared={"waiting_pods": self._waiting, "extenders": self._extenders, "preempting": self._preempting},
            shortcuts=self._shortcuts,
            report_event=self._report_event,
            metrics=self.metrics,
            watch=None if self._meter is None else self._meter.watch,
        )

    def _build_queue(self, profiles: Profiles) -> SchedulingQueue:
        configuration = self.configuration
        return SchedulingQueue(
            self.clock,
            self.nominator,
            hints=profiles.hints,
            gates=profiles.gates,
            order=arrival_order(profiles.order, self._arrivals) if self._arrivals else profiles.order,
            initial_backoff=configuration.initial_backoff,
            max_backoff=configuration.max_backoff,
            retries_errors=self._retries_errors,
            pops_from_backoff=configuration.is_on("SchedulerPopFromBackoffQ"),
            alike_in=profiles.in_tree if self._shortcuts.hints and self._meter is None else (),
        )

    def _build_writers(self) -> None:
        """The parts that write what was decided."""
        rules = self.configuration.version.rules
        self._events = EventReporter(self.store, self.clock, rules) if self._reports_events else None
        self._status = PodStatusWriter(self.store)
        self._binder = Binder(
            self._watcher,
            self.queue,
            self._status,
            self._waiting,
            self._pre_binding,
            self._to_activate,
            self._events,
            self._extenders,
            self._background,
            keeps_points=self.recorder.wants_cells,
            nominates=self.configuration.is_on("NominatedNodeNameForExpectation"),
            runs_idle_points=self._meter is not None,
        )
        self._executor = Executor(
            self.store, self._status, self.nominator, self._waiting, self._pre_binding, self._events,
            self._preempting, self._watcher.pods.get, is_async=self.configuration.is_on("SchedulerAsyncPreemption"),
        )  # fmt: skip

    def _build_extenders(self, configuration: Configuration) -> ExtenderSet | None:
        if not configuration.extenders:
            return None
        if self._transport is None:
            from seatrial.scheduler.extender.http_transport import HttpTransport

            self._transport = HttpTransport()
        objects = StoreObjects(self.store, self.table)
        return ExtenderSet(HttpExtender(one, self._transport, objects) for one in configuration.extenders)

    def _report_event(self, pod: PodInfo, type: str, reason: str, action: str, note: str) -> None:
        if self._events is not None:
            self._events.report(pod, type, reason, action, note, pod.shape.scheduler_name)

    def _reject_waiting(self, pod: PodInfo) -> bool:
        waiting = self._waiting.get(pod.uid)
        return waiting is not None and waiting.reject("", "removed")
