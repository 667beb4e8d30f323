"""The scheduling queue: active pods, pods in backoff, and unschedulable pods, which wait for an event.

Queueing hints decide what brings a pod back. Pods are taken from the backoff queue as soon as nothing is active, unless
SchedulerPopFromBackoffQ is off: PreEnqueue then runs when a pod leaves that queue, not when it enters it.
Upstream: pkg/scheduler/backend/queue/scheduling_queue.go (v1.36.3).
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from seatrial.clock import Clock, Timer
from seatrial.model.times import MINUTE, SECOND
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.framework.events import (
    ASSIGNED_ADD,
    ASSIGNED_POD,
    ATTEMPT_FAILED,
    BACKOFF_COMPLETE,
    BACKOFF_POPPED,
    FORCE_ACTIVATE,
    NODE,
    UNSCHEDULABLE_TIMEOUT,
    UNSCHEDULED_ADD,
    UNSCHEDULED_POD,
    UNSCHEDULED_UPDATE,
    ClusterEvent,
    label_of,
    pod_events,
)
from seatrial.scheduler.framework.status import Status
from seatrial.scheduler.queue.backoff_queue import BackoffQueue
from seatrial.scheduler.queue.heap import Order, PodHeap
from seatrial.scheduler.queue.in_flight import ComingBindings, InFlight, InFlightEvent
from seatrial.scheduler.queue.nominator import PodNominator
from seatrial.scheduler.queue.queued_pod_info import QueuedPod, priority_order
from seatrial.scheduler.queue.queueing_hints import Hinting, Registrations, Worth
from seatrial.scheduler.queue.unschedulable_pods import Group, UnschedulablePods

LONGEST_UNSCHEDULABLE = 5 * MINUTE
FLUSH_PERIOD = 30 * SECOND
MOST_ERRORS_IN_A_STEP = 5
"""A pod that failed more often in a row waits for time to pass by itself; else a step with it would never end."""
Gate = Callable[[PodInfo], Status | None]
Gates = Mapping[str, Sequence[tuple[str, Gate]]]
"""By profile: the PreEnqueue plugins, in order."""


EQUAL_ERRORS = 3
"""After this number of equal errors, with no change between them, a pod rests until something changes."""


class SchedulingQueue:
    """All pending pods of the profiles of one scheduler."""

    def __init__(
        self,
        clock: Clock,
        nominator: PodNominator,
        *,
        hints: Registrations,
        gates: Gates,
        order: Order = priority_order,
        initial_backoff: int = SECOND,
        max_backoff: int = 10 * SECOND,
        retries_errors: bool = True,
        pops_from_backoff: bool = True,
        alike_in: Collection[str] = (),
    ) -> None:
        """`alike_in` are the profiles whose hints see nothing in most pods but their shape: such pods share answers."""
        self._clock = clock
        self._started = clock.now()
        self._sequence = count()
        self.nominator = nominator
        self.hinting = Hinting(hints)
        self.in_flight = InFlight()
        self._coming = ComingBindings()
        self.active = PodHeap(order)
        self.backoff = BackoffQueue(clock, initial_backoff, max_backoff, order, pops_early=pops_from_backoff)
        self._pops_from_backoff = pops_from_backoff
        self.unschedulable = UnschedulablePods(alike_in)
        self._gates = gates
        self.on_incoming: Callable[[str, str], None] | None = None
        """Called with the queue and the label of the event when a pod comes into a queue."""
        self.sign: Callable[[PodInfo], bytes | None] = lambda pod: None
        """Signs pods for batching."""
        self.cycle = 0
        """How many pods were popped so far."""
        self._retries_errors = retries_errors
        self._changes = 0
        """Grows with everything that may help a pod."""
        self._error_timer: Timer | None = None
        self._flush_timer: Timer | None = None

    # -- what comes and goes ---------------------------------------------------------------------------------------

    def add(self, pod: PodInfo) -> None:
        """A new pending pod."""
        self._activate(self._queued(pod), UNSCHEDULED_ADD)

    def update(self, old: PodInfo, new: PodInfo) -> None:
        """A pending pod has changed: it may move, unless it is being scheduled or queued already."""
        events = pod_events(old, new)
        is_changed = old.shape is not new.shape or old.requests is not new.requests or old.status is not new.status
        self._changes += is_changed
        if new.uid in self.in_flight.since:
            for event in events:
                self.in_flight.record(event, old, new)
            return
        for place, reorder in ((self.active, self.active.push), (self.backoff, self.backoff.reorder)):
            queued = place.get(old.key)
            if queued is not None:
                queued.pod, queued.signature = new, self.sign(new)
                reorder(queued)
                self.nominator.update(old, new)
                return
        queued = self.unschedulable.get(new.key)
        if queued is None:
            self._activate(self._queued(new), UNSCHEDULED_UPDATE)
            return
        queued.pod, queued.signature = new, self.sign(new)
        self.nominator.update(old, new)
        if not is_changed and new.key in self.unschedulable.resting:
            return  # only the condition that reports the error was written
        for event in events:
            if self._requeue(queued, self.hinting.worth(queued, event, old, new), event):
                return

    def delete(self, pod: PodInfo) -> None:
        """A pod is gone, or no longer pending."""
        self.nominator.remove(pod)
        key = pod.key
        if self.active.remove(key) is None and self.backoff.remove(key) is None and self.unschedulable.present:
            self.unschedulable.remove(key)

    def pop(self) -> QueuedPod | None:
        """The next pod to schedule, which is in flight from now on; None where none can be tried."""
        if self.backoff:
            self._flush_backoff()
        queued = self.active.pop()
        if queued is None:
            queued = self.backoff.ordinary.pop() if self._pops_from_backoff else None
            if queued is not None:
                self._report_incoming("active", BACKOFF_POPPED)
        if queued is not None:
            self.cycle += 1
            queued.attempts += 1
            self.in_flight.begin(queued.pod.uid)
        return queued

    def done(self, uid: str) -> None:
        """A pod is no longer in flight."""
        self.in_flight.end(uid)

    def has_work(self) -> bool:
        """Whether a pod can be popped without time passing."""
        if self.active.present:
            return True
        return (self._pops_from_backoff and bool(self.backoff.ordinary.present)) or self._has_completed()

    def add_unschedulable(self, queued: QueuedPod, message: str = "") -> None:
        """A pod comes back from an attempt that failed; its rejectors say why, or the message of an error."""
        key, rejectors = queued.key, queued.rejectors
        try:
            if key in self.active.present or key in self.backoff or key in self.unschedulable.present:
                return
            if rejectors:
                queued.unschedulable_count += 1
                queued.consecutive_errors = 0
            else:
                queued.consecutive_errors += 1
                queued.count_error(message, self._changes)
            queued.timestamp, queued.sequence = self._clock.now(), next(self._sequence)
            queued.backoff_until = None
            queued.was_flushed = False
            if not self._retries_errors and not rejectors and queued.equal_errors >= EQUAL_ERRORS:
                self._park(queued, ATTEMPT_FAILED)
            else:
                self._requeue(queued, self._worth_of_events(queued), ATTEMPT_FAILED)
        finally:
            self.done(queued.pod.uid)

    # -- what brings pods back ---------------------------------------------------------------------------------------

    def move_all(self, event: ClusterEvent, old: Any, new: Any, check: Callable[[PodInfo], bool] | None = None) -> None:
        """Something happened in the cluster: pods it may help go back to the queue."""
        self._changes += 1
        if not self.hinting.concerns_anybody(event) and not self.unschedulable.resting:
            return
        if self.unschedulable.present:
            waiting = list(self.unschedulable.resting.values())
            for group in self.unschedulable.rejected_by(self.hinting.interested(event)):
                if group.key is None or self._may_help(group, event, old, new):
                    waiting += group.pods.values()
            self._move([queued for queued in waiting if check is None or check(queued.pod)], event, old, new)
        self.in_flight.record(event, old, new)

    def expect_binding(self, pod: PodInfo) -> None:
        """A pod was bound by this scheduler; pods that are queued now are tried before upstream learns of it."""
        if self.active.present or self.backoff.ordinary.present:
            self._coming.add(pod)

    def activate(self, pods: Iterable[PodInfo]) -> None:
        """Bring pods back at once, as a plugin may ask for."""
        for pod in pods:
            queued = self.unschedulable.get(pod.key)
            if queued is not None:
                self._activate(queued, FORCE_ACTIVATE)
                continue
            queued = self.backoff.remove(pod.key)
            if queued is not None:
                self._activate(queued, FORCE_ACTIVATE, check_gates=not self._pops_from_backoff)
            elif pod.uid in self.in_flight:
                self.in_flight.record(FORCE_ACTIVATE, None, pod)

    def activate_after_failure(self, queued: QueuedPod, message: str) -> None:
        """The victims of a pod could not be deleted: it is tried again at once.

        After equal failures it is not, unless something changes: upstream goes on for ever at the pace of its network.
        """
        queued.count_error(message, self._changes)
        if queued.equal_errors < EQUAL_ERRORS:
            self.activate([queued.pod])

    def sweep(self) -> None:
        """Bring every pending pod back that is neither gated nor being deleted."""
        waiting = [q for q in self.unschedulable if not q.is_gated and not q.pod.deleting]
        open_to = [q for q in (*waiting, *self.backoff.after_error) if self._opens_to(q, FORCE_ACTIVATE)]
        for queued in open_to:
            self._leave(queued)
            self._report_incoming("active", FORCE_ACTIVATE)
        self.active.push_all(open_to)

    def pending(self) -> Iterator[QueuedPod]:
        """All pods of the queue: active, backing off, unschedulable."""
        yield from self.active
        yield from self.backoff
        yield from self.unschedulable

    def find(self, key: str) -> QueuedPod | None:
        """A pending pod by namespace/name; not one in flight."""
        return self.active.get(key) or self.backoff.get(key) or self.unschedulable.get(key)

    def close(self) -> None:
        """Stop all timers."""
        for timer in (self._error_timer, self._flush_timer):
            if timer is not None:
                timer.cancel()

    def _queued(self, pod: PodInfo) -> QueuedPod:
        return QueuedPod(pod, self._clock.now(), next(self._sequence), signature=self.sign(pod))

    # -- moving ------------------------------------------------------------------------------------------------------

    def _move(self, pods: list[QueuedPod], event: ClusterEvent, old: Any, new: Any) -> None:
        for queued in pods:
            if queued.is_gated and not any(known.covers(event) for known in queued.gating_events):
                continue
            worth = self.hinting.worth(queued, event, old, new)
            if worth is not Worth.NOTHING:
                self.unschedulable.remove(queued.key)
                self._requeue(queued, worth, event)

    def _may_help(self, group: Group, event: ClusterEvent, old: Any, new: Any) -> bool:
        """Whether an event may help one of these pods, of which hints see the same: the answer for one holds for all.

        Not so if the event is about one of them, or about an object that may belong to one pod, such as a claim.
        """
        is_about_one = any(isinstance(one, PodInfo) and one.key in self.unschedulable.present for one in (old, new))
        if event.resource not in (NODE, ASSIGNED_POD) or is_about_one:
            return True
        first = next(iter(group.pods.values()))
        return self.hinting.worth(first, event, old, new) is not Worth.NOTHING

    def _worth_of_events(self, queued: QueuedPod) -> Worth:
        if not queued.rejectors:
            return Worth.AFTER_BACKOFF
        events = self.in_flight.events_for(queued.pod.uid)
        if events is None:
            return Worth.AFTER_BACKOFF
        best = Worth.NOTHING
        for event, old, new in (*events, *self._coming_for(queued)):
            worth = self.hinting.worth(queued, event, old, new)
            if worth is Worth.AT_ONCE or (worth is Worth.AFTER_BACKOFF and not queued.pending_plugins):
                return worth
            if worth is Worth.AFTER_BACKOFF:
                best = worth
        return best

    def _coming_for(self, queued: QueuedPod) -> Sequence[InFlightEvent]:
        if queued.rejectors.isdisjoint(self.hinting.interested(ASSIGNED_ADD)):
            return ()
        return self._coming.since(queued.bindings_before)

    def _requeue(self, queued: QueuedPod, worth: Worth, event: ClusterEvent) -> bool:
        """Put a pod where it belongs; whether it left the unschedulable pods."""
        if worth is Worth.NOTHING:
            self._park(queued, event)
            return False
        if worth is Worth.AFTER_BACKOFF and self.backoff.is_backing_off(queued):
            if self._pops_from_backoff and not self.passes_gates(queued):
                self._park(queued, event)
                return False
            self.unschedulable.remove(queued.key)
            queued.bindings_before = self._coming.count
            self.backoff.add(queued)
            self._report_incoming("backoff", event)
            self._arm_error_timer()
            return True
        return self._activate(queued, event)

    def _activate(self, queued: QueuedPod, event: ClusterEvent, *, check_gates: bool = True) -> bool:
        if check_gates and not self._opens_to(queued, event):
            return False
        self._leave(queued)
        self.active.push(queued)
        self._report_incoming("active", event)
        if event.resource == UNSCHEDULED_POD and event in (UNSCHEDULED_ADD, UNSCHEDULED_UPDATE):
            self.nominator.nominate(queued.pod)
        return True

    def _opens_to(self, queued: QueuedPod, event: ClusterEvent) -> bool:
        """Whether the gates let a pod pass; it is parked where they do not."""
        if self.passes_gates(queued):
            return True
        if queued.key not in self.active and queued.key not in self.backoff:
            self._park(queued, event)
        return False

    def _leave(self, queued: QueuedPod) -> None:
        """A pod becomes active: it leaves the other places."""
        if queued.first_attempt is None:
            queued.first_attempt = self._clock.now()
        queued.bindings_before = self._coming.count
        self.unschedulable.remove(queued.key)
        if self.backoff:
            self.backoff.remove(queued.key)

    def _report_incoming(self, queue: str, event: ClusterEvent) -> None:
        if self.on_incoming is not None:
            self.on_incoming(queue, label_of(event))

    def _park(self, queued: QueuedPod, event: ClusterEvent) -> None:
        if queued.key not in self.unschedulable.present:
            self._report_incoming("unschedulable", event)
        self.unschedulable.park(queued)
        if not queued.is_gated:
            self._arm_flush_timer()

    def passes_gates(self, queued: QueuedPod) -> bool:
        """Run the PreEnqueue plugins, the one that held the pod last time first."""
        plugins = self._gates.get(queued.pod.shape.scheduler_name, ())
        if queued.gating_plugin:
            plugins = sorted(plugins, key=lambda entry: entry[0] != queued.gating_plugin)
        for name, gate in plugins:
            status = gate(queued.pod)
            if status is not None and not status.is_success:
                queued.unschedulable_plugins |= {name}
                queued.gating_plugin = name
                queued.gating_events = self.hinting.events_of(name)
                return False
        queued.gating_plugin = ""
        return True

    # -- time --------------------------------------------------------------------------------------------------------

    def _has_completed(self) -> bool:
        due = self.backoff.next_expiry()
        return due is not None and due <= self._clock.now()

    def _flush_backoff(self) -> None:
        for queued in self.backoff.pop_completed():
            self._activate(queued, BACKOFF_COMPLETE, check_gates=not self._pops_from_backoff)

    def _arm_error_timer(self) -> None:
        due = self.backoff.next_expiry()
        if due is None:
            return
        if self._error_timer is None or self._error_timer.cancelled or due < self._error_timer.when:
            if self._error_timer is not None:
                self._error_timer.cancel()
            queued = self.backoff.after_error.peek()
            is_hopeless = queued is not None and queued.consecutive_errors > MOST_ERRORS_IN_A_STEP
            is_hopeless = is_hopeless and (self._pops_from_backoff or not self.backoff.ordinary)
            self._error_timer = self._clock.at(due, self._on_error_timer, outer=is_hopeless)

    def _on_error_timer(self) -> None:
        self._error_timer = None
        self._flush_backoff()
        self._arm_error_timer()

    def _arm_flush_timer(self) -> None:
        """Every 30 s of the queue's life pods that have waited for more than 5 minutes are tried again."""
        if self._flush_timer is not None:
            return
        waiting = [queued.timestamp for queued in self.unschedulable if not queued.is_gated]
        if waiting:
            age = min(waiting) + LONGEST_UNSCHEDULABLE - self._started
            due = self._started + (age // FLUSH_PERIOD + 1) * FLUSH_PERIOD
            self._flush_timer = self._clock.at(due, self._on_flush_timer, outer=True)

    def _on_flush_timer(self) -> None:
        self._flush_timer = None
        now = self._clock.now()
        late = [q for q in self.unschedulable if now - q.timestamp > LONGEST_UNSCHEDULABLE]
        for queued in late:
            queued.was_flushed = True
        self._move(late, UNSCHEDULABLE_TIMEOUT, None, None)
        self._arm_flush_timer()
