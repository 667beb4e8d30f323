"""From a chosen node to a bound pod: assume, Reserve, Permit, PreBind, Bind, PostBind.

Upstream runs what follows Permit in the background; here it is the end of the same turn, unless Permit or PreBind holds
the pod.
Upstream: pkg/scheduler/schedule_one.go (prepareForBindingCycle, bindingCycle), v1.36.3.
"""

from collections import deque
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from seatrial.scheduler.cache.event_handlers import EventHandlers
from seatrial.scheduler.cache.node_info import NodeInfo
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.extender.extender import ExtenderSet
from seatrial.scheduler.framework.interface import PodsToActivate
from seatrial.scheduler.framework.pre_bind import PodsInPreBind, PreBindRun
from seatrial.scheduler.framework.runtime import CycleState, Framework
from seatrial.scheduler.framework.status import SKIP, SUCCESS, Code, Status
from seatrial.scheduler.framework.waiting_pods import WaitingPods
from seatrial.scheduler.queue import QueuedPod, SchedulingQueue
from seatrial.scheduler.schedule_one.decision import SCHEDULED, WAITING, Decision
from seatrial.scheduler.schedule_one.event_series import EventReporter
from seatrial.scheduler.schedule_one.fit_error import ABSENT, fit_error
from seatrial.scheduler.schedule_one.pod_status import PodStatusWriter
from seatrial.scheduler.schedule_one.schedule_one import Attempt


class Binding(Struct, eq=False):
    """An attempt on its way to a node."""

    queued: QueuedPod
    attempt: Attempt
    assumed: PodInfo
    node: NodeInfo
    decision: Decision
    """what is being carried out"""
    points: dict[str, tuple[tuple[str, str], ...]] = {}
    waits: dict[str, int] = {}
    outcome: str = SCHEDULED
    failure: Status | None = None
    """Why it ended otherwise."""
    is_late: bool = False
    """Whether it failed after its scheduling cycle was over."""
    skipped: frozenset[str] = frozenset()
    """Plugins whose PreBind has nothing to do."""
    pre_bind: PreBindRun | None = None
    is_plain: bool = False
    """Whether Reserve and PreBind have nothing to do, and their answers are not recorded."""

    @property
    def details(self) -> dict[str, Any]:
        """What the record says of Reserve and the points after it."""
        points: dict[str, Any] = {"points": dict(self.points)} if self.points else {}
        return points | ({"permit_timeouts": tuple(self.waits.items())} if self.waits else {})

    @property
    def is_bound_plainly(self) -> bool:
        """Whether the pod is bound, with nothing more to record than the decision."""
        return self.failure is None and self.outcome == SCHEDULED and not self.points and not self.waits

    @property
    def rejectors(self) -> frozenset[str]:
        """The plugin to blame, where it was a rejection and no error."""
        failure = self.failure
        is_blamed = failure is not None and failure.is_rejected and failure.plugin
        return frozenset((failure.plugin,)) if failure is not None and is_blamed else frozenset()

    @property
    def message(self) -> str:
        failure = self.failure
        if failure is None:
            return ""
        if failure.is_rejected:
            return fit_error(1, (failure,), ABSENT, 1)
        return failure.message


_IDLE_WHEN_SKIPPED = frozenset(("VolumeBinding", "DynamicResources"))
"""Plugins that reserve and prepare nothing for a pod which their PreFilter had no interest in."""


Background = Callable[[Callable[[], Status | None], Callable[[Status | None], None]], None]
"""Does some work elsewhere and hands its answer over when it is there; the second call may come from any thread."""


class Binder:
    """Carries bindings out."""

    def __init__(
        self,
        watcher: EventHandlers,
        queue: SchedulingQueue,
        status: PodStatusWriter,
        waiting: WaitingPods,
        pre_binding: PodsInPreBind,
        to_activate: PodsToActivate,
        events: EventReporter | None,
        extenders: ExtenderSet | None,
        background: Background | None = None,
        *,
        keeps_points: bool = True,
        nominates: bool = True,
        runs_idle_points: bool = False,
    ) -> None:
        self._watcher, self._queue, self._status = watcher, queue, status
        self._waiting, self._pre_binding, self._events, self._extenders = waiting, pre_binding, events, extenders
        self._background, self._to_activate = background, to_activate
        self._keeps_points, self._runs_idle_points = keeps_points, runs_idle_points
        self._nominates = nominates
        """Whether a pod says where it is going to be before it is bound."""
        self.answered: deque[tuple[Binding, Status | None]] = deque()
        """Pods that an extender has bound in the background, or has failed to bind."""

    def begin(self, queued: QueuedPod, attempt: Attempt, node: NodeInfo, decision: Decision) -> Binding:
        """Take the pod as far as it goes now: bound, held by Permit, or failed."""
        assumed = attempt.pod.on(node.name)
        binding = Binding(queued, attempt, assumed, node, decision)
        self._watcher.assume(assumed)
        self._queue.nominator.remove(attempt.pod)
        framework, cycle = attempt.framework, attempt.cycle
        is_idle = not self._runs_idle_points and self._has_nothing_to_do(framework, cycle)
        if is_idle and self._extenders is None and not framework.has("permit") and not self._to_activate.pods:
            binding.is_late = True
            self._queue.done(assumed.uid)
            if self._keeps_points:
                binding.points = dict(framework.idle_points)
            return self._end(binding, self._bind_by_plugins(binding))
        binding.is_plain = is_idle and not self._keeps_points
        if framework.has("reserve") and not binding.is_plain:
            status, results = framework.run_reserve(assumed, node, cycle)
            binding.points["reserve"] = tuple(results)
            if not status.is_success:
                return self._undo(binding, status)
        if framework.has("permit") or self._runs_idle_points:
            status, binding.waits, results = framework.run_permit(assumed, node, cycle)
            if results:
                binding.points["permit"] = tuple(results)
            if status.code == Code.WAIT:
                self._activate_pods()
                return self._hold(binding)
            if not status.is_success:
                return self._undo(binding, status)
        if self._to_activate.pods:
            self._activate_pods()
        binding.is_late = True
        return self._finish(binding, self._prepare(binding))

    def _has_nothing_to_do(self, framework: Framework, cycle: CycleState) -> bool:
        """Whether Reserve and PreBind change nothing; without its pre-flight, PreBind is recorded plugin by plugin."""
        if self._keeps_points and not self._nominates:
            return False
        return framework.preparing <= _IDLE_WHEN_SKIPPED and framework.preparing <= cycle.skipped

    def next_answered(self) -> Binding:
        """The pod whose extender has answered first."""
        return self.answered[0][0]

    def take_answer(self) -> Binding:
        """Go on with a pod that an extender was binding."""
        binding, status = self.answered.popleft()
        binding.outcome = SCHEDULED
        return self._end(binding, self._bind_by_plugins(binding) if status is None else status)

    def resume(self, binding: Binding, status: Status) -> Binding:
        """The wait of a pod is over."""
        binding.outcome, binding.is_late = SCHEDULED, True
        if not status.is_success:
            return self._undo(binding, status)
        return self._finish(binding, SUCCESS)

    def resume_pre_bind(self, binding: Binding, status: Status) -> Binding:
        """The wait of a pod in PreBind is over."""
        binding.outcome = SCHEDULED
        if status.is_success:
            return self._run_pre_bind(binding)
        if binding.pre_bind is not None:
            binding.pre_bind.ended(status)
        return self._undo(binding, status)

    def _hold(self, binding: Binding) -> Binding:
        status = self._prepare(binding, nominates=True)
        if not status.is_success:
            binding.is_late = True
            return self._undo(binding, status)
        binding.outcome = WAITING
        self._waiting.hold(binding.assumed, binding, binding.waits)
        return binding

    def _prepare(self, binding: Binding, *, nominates: bool = False) -> Status:
        """A pod that is going to wait, or whose PreBind has work to do, says where it is going to be."""
        attempt, status = binding.attempt, SKIP
        if self._nominates and not binding.is_plain and attempt.framework.has("preBind"):
            run = attempt.framework.run_pre_bind_pre_flight
            status, binding.skipped = run(binding.assumed, binding.node, attempt.cycle)
        if self._nominates and (status.is_success or (nominates and status.code == Code.SKIP)):
            self._status.nominate(attempt.pod, binding.node.name)
        return SUCCESS if status.code == Code.SKIP else status

    def _finish(self, binding: Binding, status: Status) -> Binding:
        attempt, assumed, node = binding.attempt, binding.assumed, binding.node
        if not status.is_success:
            return self._undo(binding, status)
        self._queue.done(assumed.uid)
        if binding.is_plain or not attempt.framework.has("preBind"):
            return self._start_bind(binding)
        binding.pre_bind = attempt.framework.pre_bind(assumed, node, attempt.cycle, binding.skipped)
        return self._run_pre_bind(binding)

    def _run_pre_bind(self, binding: Binding) -> Binding:
        """Run PreBind as far as it goes: to its end, to a failure, or to a plugin that holds the pod."""
        run = binding.pre_bind
        assert run is not None
        status = run.advance()
        binding.points["preBind"] = tuple(run.results)
        if status is None:
            binding.outcome = WAITING
            self._pre_binding.hold(binding.assumed, binding, run.polls)
            return binding
        run.ended(status)
        return self._start_bind(binding) if status.is_success else self._undo(binding, status)

    def _start_bind(self, binding: Binding) -> Binding:
        extenders, background = self._extenders, self._background
        if extenders is not None and background is not None and extenders.binds(binding.assumed):
            return self._bind_in_background(binding, extenders, background)
        return self._end(binding, self._bind(binding))

    def _end(self, binding: Binding, status: Status) -> Binding:
        """The pod is bound, or could not be."""
        attempt, assumed, node = binding.attempt, binding.assumed, binding.node
        framework, cycle = attempt.framework, attempt.cycle
        if not status.is_success:
            return self._undo(binding, status)
        if self._events is not None:
            self._events.scheduled(assumed, node.name, framework.name)
        if self._runs_idle_points or framework.has("postBind"):
            framework.run_post_bind(assumed, node, cycle)
        if self._to_activate.pods:
            self._activate_pods()
        return binding

    def _activate_pods(self) -> None:
        """Bring back the pods that plugins asked for."""
        self._queue.activate(self._to_activate.take())

    def _bind_in_background(self, binding: Binding, extenders: ExtenderSet, background: Background) -> Binding:
        """An extender binds through the API server, which may run on this thread: waiting would block it."""
        binding.outcome = WAITING
        background(
            lambda: extenders.bind(binding.assumed, binding.node.name),
            lambda status: self.answered.append((binding, status)),
        )
        return binding

    def _bind(self, binding: Binding) -> Status:
        if self._extenders is not None:
            status = self._extenders.bind(binding.assumed, binding.node.name)
            if status is not None:
                return status
        return self._bind_by_plugins(binding)

    def _bind_by_plugins(self, binding: Binding) -> Status:
        attempt = binding.attempt
        status, results = attempt.framework.run_bind(binding.assumed, binding.node, attempt.cycle)
        if self._keeps_points:
            binding.points["bind"] = tuple(results)
        return status

    def _undo(self, binding: Binding, status: Status) -> Binding:
        binding.failure = status
        attempt = binding.attempt
        attempt.framework.run_unreserve(binding.assumed, binding.node, attempt.cycle)
        self._watcher.forget(binding.assumed)
        return binding
