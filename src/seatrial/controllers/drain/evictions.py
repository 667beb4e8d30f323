"""The evictions of one node's pods: tried again every five seconds while a budget refuses, then awaited.

Upstream: evictPods and waitForDelete of staging/src/k8s.io/kubectl/pkg/drain/drain.go (v1.36). An answer can change
only when a budget of the namespace or the pod changes, so a timer is set for the next fifth second after such a change
and not for every one: the evictions happen at the same instants, and a pod that is held for ever keeps no timer alive.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from seatrial.clock import Clock, Timer
from seatrial.controllers.drain.options import DrainHold, DrainOptions, DrainRecord
from seatrial.controllers.framework.controller import Key
from seatrial.model.durations import format_duration, parse_duration
from seatrial.model.errors import NotFound, StatusError, TooManyRequests
from seatrial.model.times import SECOND, to_time
from seatrial.store import Store
from seatrial.store.options import DeleteOptions

RETRY, POLL = 5 * SECOND, SECOND
_BUDGET = re.compile(r"The disruption budget (\S+) ")


@dataclass(slots=True)
class Eviction:
    """One pod that is to go."""

    pod: Key
    uid: str
    asked: int
    """When the last request was made: retries and polls count from it."""
    is_granted: bool = False
    hold: DrainHold | None = None
    timer: Timer | None = None


@dataclass(slots=True)
class NodeDrain:
    """The drain of one node from its first eviction to its end."""

    node: str
    options: DrainOptions
    store: Store
    clock: Clock
    writer: str
    changed: Callable[["NodeDrain"], None]
    """Called when the record has changed; `left` is empty at the end."""
    record: DrainRecord = field(default_factory=lambda: DrainRecord("Draining"))
    left: dict[Key, Eviction] = field(default_factory=dict)
    _deadline: int | None = None
    _timer: Timer | None = None

    def start(self, pods: list[tuple[Key, str]]) -> None:
        """Ask for the eviction of all pods at once."""
        now, timeout = self.clock.now(), parse_duration(self.options.timeout)
        self.record.started = to_time(now)
        if timeout:
            self._deadline = now + timeout
            self._timer = self.clock.at(self._deadline, self._time_is_up, outer=True)
        self.left = {pod: Eviction(pod, uid, now) for pod, uid in pods}
        for eviction in list(self.left.values()):
            self._ask(eviction)
        self.changed(self)

    def stop(self) -> None:
        for eviction in self.left.values():
            self._disarm(eviction)
        if self._timer is not None:
            self._timer.cancel()

    def touch(self, pod: Key) -> None:
        """A pod, or a budget that may be its own, has changed: look at it when kubectl does so next."""
        eviction = self.left.get(pod)
        if eviction is None or (eviction.timer is not None and not eviction.timer.cancelled):
            return
        if eviction.is_granted and self._is_there(eviction):
            return
        every = POLL if eviction.is_granted else RETRY
        passed = self.clock.now() - eviction.asked
        due = eviction.asked + max(1, -(-passed // every)) * every
        eviction.timer = self.clock.at(due, lambda: self._look(eviction), outer=True)

    def _look(self, eviction: Eviction) -> None:
        eviction.timer = None
        if eviction.is_granted:
            self._finish(eviction)
        elif self._deadline is not None and self.clock.now() >= self._deadline:
            limit = format_duration(parse_duration(self.options.timeout))
            self._finish(eviction, f"error when evicting {_named(eviction)}: global timeout reached: {limit}")
        elif not self._ask(eviction):
            return
        self.changed(self)

    def _ask(self, eviction: Eviction) -> bool:
        """Request the eviction; whether the record has changed."""
        grace = self.options.grace_period
        options = DeleteOptions(grace_period_seconds=grace if grace >= 0 else None)
        namespace, name = eviction.pod
        eviction.asked = self.clock.now()
        self._disarm(eviction)
        try:
            self.store.evict(namespace, name, writer=self.writer, options=options)
        except NotFound:
            self._finish(eviction)
        except TooManyRequests as refusal:
            return self._held(eviction, refusal)
        except StatusError as refusal:
            self._finish(eviction, f"error when evicting {_named(eviction)}: {refusal.message}")
        else:
            self._release(eviction)
            # The writes of the eviction itself have touched the pod.
            self._disarm(eviction)
            eviction.is_granted = True
            self.record.evicted += 1
            if not self._is_there(eviction):
                self._finish(eviction)
        return True

    @staticmethod
    def _disarm(eviction: Eviction) -> None:
        if eviction.timer is not None:
            eviction.timer.cancel()
            eviction.timer = None

    def _held(self, eviction: Eviction, refusal: TooManyRequests) -> bool:
        why = refusal.causes[0].message if refusal.causes else refusal.message
        found = _BUDGET.search(why)
        budget = f"{eviction.pod[0]}/{found[1]}" if found else ""
        if eviction.hold is not None and eviction.hold.budget == budget:
            is_news, eviction.hold.why = eviction.hold.why != why, why
            return is_news
        self._release(eviction)
        eviction.hold = DrainHold("/".join(eviction.pod), budget, why, to_time(self.clock.now()))
        self.record.held.append(eviction.hold)
        return True

    def _release(self, eviction: Eviction) -> None:
        if eviction.hold is not None:
            eviction.hold.until = to_time(self.clock.now())
            eviction.hold = None

    def _finish(self, eviction: Eviction, error: str = "") -> None:
        self.left.pop(eviction.pod, None)
        if error:
            self.record.errors.append(error)
        else:
            self._release(eviction)

    def _is_there(self, eviction: Eviction) -> bool:
        found = self.store.find(self.store.kinds.served("v1", "Pod"), eviction.pod[1], eviction.pod[0])
        return found is not None and found.uid == eviction.uid

    def _time_is_up(self) -> None:
        """End the waits at once; a refused pod learns it when its eviction would be tried again."""
        for eviction in list(self.left.values()):
            if eviction.is_granted:
                namespace, name = eviction.pod
                waited = f'error when waiting for pod "{name}" in namespace "{namespace}" to terminate'
                self._finish(eviction, f"{waited}: context deadline exceeded")
            else:
                self.touch(eviction.pod)
        self.changed(self)


def _named(eviction: Eviction) -> str:
    return f'pods/"{eviction.pod[1]}" -n "{eviction.pod[0]}"'
