"""Pods that Permit holds, until all plugins allow them, one rejects them, or the time is up.

A waiting pod keeps its reservation. Nothing happens by itself: a pod that is allowed or rejected is *settled*, and the
scheduler goes on with it in its next turn. Upstream: pkg/scheduler/framework/runtime/waiting_pods_map.go (v1.36.3).
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from seatrial.clock import Clock, Timer
from seatrial.model.durations import format_duration
from seatrial.model.times import MINUTE
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.framework.status import SUCCESS, Status, error, unschedulable

LONGEST_WAIT = 15 * MINUTE


@dataclass(slots=True, eq=False)
class WaitingPod:
    """One held pod; `binding` is what its attempt goes on with."""

    pod: PodInfo
    binding: Any
    since: int
    timers: dict[str, Timer] = field(default_factory=dict)
    status: Status | None = None
    """How the wait ended; None while it lasts."""
    on_settled: Callable[["WaitingPod"], None] = lambda waiting: None

    @property
    def pending_plugins(self) -> tuple[str, ...]:
        return tuple(self.timers)

    def allow(self, plugin: str) -> None:
        """A plugin no longer holds the pod."""
        timer = self.timers.pop(plugin, None)
        if timer is not None:
            timer.cancel()
        if not self.timers:
            self._settle(SUCCESS)

    def reject(self, plugin: str, message: str) -> bool:
        """A plugin refuses the pod; False where the wait is over already."""
        return self._settle(unschedulable(message).by(plugin))

    def preempt(self, plugin: str) -> bool:
        """The pod has to make room before it was bound; False where the wait is over already."""
        return self._settle(error("waiting on permit for pod: preempted").by(plugin))

    def _settle(self, status: Status) -> bool:
        if self.status is not None:
            return False
        for timer in self.timers.values():
            timer.cancel()
        self.status = status
        self.on_settled(self)
        return True


class WaitingPods:
    """All pods held by Permit, by uid; plugins find it as `handle.shared["waiting_pods"]`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._pods: dict[str, WaitingPod] = {}
        self.settled: list[WaitingPod] = []
        """Pods whose wait is over, in that order."""

    def __iter__(self) -> Iterator[WaitingPod]:
        return iter(list(self._pods.values()))

    def __len__(self) -> int:
        return len(self._pods)

    def get(self, uid: str) -> WaitingPod | None:
        return self._pods.get(uid)

    def hold(self, pod: PodInfo, binding: Any, waits: Mapping[str, int]) -> WaitingPod:
        """Hold a pod for the plugins that asked for it, each at most for its number of microseconds."""
        waiting = WaitingPod(pod, binding, self._clock.now(), on_settled=self.settled.append)
        for plugin, longest in waits.items():
            waiting.timers[plugin] = self._clock.after(
                min(longest, LONGEST_WAIT), _expiry(waiting, plugin, min(longest, LONGEST_WAIT))
            )
        self._pods[pod.uid] = waiting
        return waiting

    def close(self) -> None:
        """Releases all pods: the scheduler stops."""
        for waiting in self._pods.values():
            for timer in waiting.timers.values():
                timer.cancel()

    def take_settled(self) -> WaitingPod | None:
        """The next pod whose wait is over; it is no longer held."""
        if not self.settled:
            return None
        waiting = self.settled.pop(0)
        self._pods.pop(waiting.pod.uid, None)
        return waiting


def _expiry(waiting: WaitingPod, plugin: str, longest: int) -> Callable[[], None]:
    message = f"rejected due to timeout after waiting {format_duration(longest)} at plugin {plugin}"

    def expire() -> None:
        waiting.reject(plugin, message)

    return expire
