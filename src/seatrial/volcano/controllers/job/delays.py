"""Actions that wait for the timeout of their policy, and what cancels them.

Upstream: delayAction, AddDelayActionForJob, CleanPodDelayActionsIfNeed and cleanupDelayActions of
pkg/controllers/job/job_controller.go.
"""

from collections.abc import Callable
from dataclasses import dataclass

from seatrial.clock import Clock, Timer
from seatrial.volcano.controllers.job.policies import POD_EVENTS, JobRequest, scope_of

Key = tuple[str, str]
Due = Callable[[Key, JobRequest, str], None]
"""Called with the Job, the request and its action when the delay is over."""


@dataclass(slots=True)
class _Delayed:
    request: JobRequest
    action: str
    timer: Timer


class DelayedActions:
    """The delayed actions of all Jobs, one for each pod."""

    def __init__(self, clock: Clock, due: Due) -> None:
        self._clock, self._due = clock, due
        self._waiting: dict[Key, dict[str, _Delayed]] = {}

    def add(self, key: Key, request: JobRequest, action: str, delay: int) -> None:
        """Carry an action out after a delay, unless the same one waits for this pod already."""
        waiting = self._waiting.setdefault(key, {})
        known = waiting.get(request.pod)
        if known is not None and known.action == action:
            return

        def fire() -> None:
            waiting.pop(request.pod, None)
            self._due(key, request, action)

        waiting[request.pod] = _Delayed(request, action, self._clock.after(delay, fire, outer=True))

    def heed(self, key: Key, request: JobRequest) -> None:
        """Cancel what a change of a pod's phase makes pointless."""
        if request.event not in POD_EVENTS or request.event == "PodPending":
            return
        delayed = self._waiting.get(key, {}).get(request.pod)
        if delayed is None:
            return
        waited = delayed.request
        pends = waited.event == "PodPending" and waited.pod_uid == request.pod_uid
        recovered = waited.event in ("PodFailed", "PodEvicted") and request.event == "PodRunning"
        if pends or recovered:
            delayed.timer.cancel()
            del self._waiting[key][request.pod]

    def carried_out(self, key: Key, request: JobRequest, action: str) -> None:
        """Cancel the waiting actions of the same scope as one that was carried out."""
        scope = scope_of(action)
        waiting = self._waiting.get(key, {})
        for name, delayed in list(waiting.items()):
            other = delayed.request
            differs = {
                "task": other.task != request.task,
                "pod": other.pod != request.pod,
                "partition": other.partition != request.partition,
            }.get(scope, False)
            if scope_of(delayed.action) == scope and not differs:
                delayed.timer.cancel()
                del waiting[name]

    def clear(self, key: Key | None = None) -> None:
        """Cancel all waiting actions, or those of one Job."""
        for known in [key] if key is not None else list(self._waiting):
            for delayed in self._waiting.pop(known, {}).values():
                delayed.timer.cancel()
