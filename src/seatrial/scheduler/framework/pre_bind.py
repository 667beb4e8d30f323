"""PreBind, and the pods that wait there.

Upstream runs PreBind in a goroutine, where a plugin may block in a poll loop. Here a plugin writes what it has to and
answers with a `Poll`: the pod is held until the condition holds at a tick of the loop, or the time is up. A condition
is evaluated when an object it depends on changes, and again at the next tick, which decides; so waiting costs nothing.

The end of the time that a pod may wait is an outer timer: it comes only if the scenario lets that much time pass. The
tick at which the wait is known to end is an inner one.

Upstream: pkg/scheduler/framework/runtime/framework.go (RunPreBindPlugins), pods_in_prebind_map.go (v1.36.3).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct

from seatrial.clock import Clock, Timer
from seatrial.scheduler.cache.node_info import NodeInfo
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.framework.interface import Poll, Watched
from seatrial.scheduler.framework.status import SUCCESS, Code, Status, error

Points = list[tuple[str, str]]
"""What each plugin said, for the record."""


class PreBindCall(Struct, frozen=True):
    """A plugin's PreBind."""

    plugin: str
    run: Callable[[PodInfo, NodeInfo, Any], Status | Poll | None]
    is_parallel: bool


class PreBindRun:
    """The PreBind plugins of one pod. Neighbours that may run in parallel wait at the same time."""

    def __init__(self, calls: Iterable[PreBindCall], pod: PodInfo, node: NodeInfo, states: Callable[[str], Any]):
        self._pod, self._node, self._states = pod, node, states
        self._groups = _groups(calls)
        self.results: Points = []
        self.polls: dict[str, Poll] = {}
        """The conditions that are waited for, by plugin."""
        self.ended: Callable[[Status], None] = lambda status: None
        """Called with the outcome of all plugins."""

    def advance(self) -> Status | None:
        """Run plugins until all are through (success), one fails, or the pod has to wait (None)."""
        self.results.extend((name, "success") for name in self.polls)
        self.polls = {}
        while self._groups:
            for call in self._groups.pop(0):
                failure = self._run(call)
                if failure is not None:
                    return failure
            if self.polls:
                return None
        return SUCCESS

    def _run(self, call: PreBindCall) -> Status | None:
        answer = call.run(self._pod, self._node, self._states(call.plugin)) or SUCCESS
        if isinstance(answer, Poll):
            self.polls[call.plugin] = answer
            return None
        self.results.append((call.plugin, answer.message or "success"))
        if answer.is_rejected:
            return answer.by(call.plugin)
        if not answer.is_success and answer.code != Code.SKIP:
            return failed(call.plugin, answer.message)
        return None


def _groups(calls: Iterable[PreBindCall]) -> list[list[PreBindCall]]:
    groups: list[list[PreBindCall]] = []
    for call in calls:
        if groups and call.is_parallel and groups[-1][-1].is_parallel:
            groups[-1].append(call)
        else:
            groups.append([call])
    return groups


def failed(plugin: str, message: str) -> Status:
    """The failure of a PreBind plugin as the framework reports it."""
    return error(f'running PreBind plugin "{plugin}": {message}')


@dataclass(slots=True, eq=False)
class PodInPreBind:
    """A pod that waits; `binding` is what its attempt goes on with."""

    pod: PodInfo
    binding: Any
    polls: dict[str, Poll]
    """The conditions that do not hold yet, by plugin."""
    start: int
    watched: tuple[Watched, ...]
    timers: list[Timer] = field(default_factory=list)
    status: Status | None = None
    """How the wait ended; None while it lasts."""


class PodsInPreBind:
    """All pods that wait in PreBind."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._pods: dict[str, PodInPreBind] = {}
        self._watchers: dict[Watched, dict[str, None]] = {}
        """The uids of the pods that depend on an object."""
        self.settled: list[PodInPreBind] = []
        """Pods whose wait is over, in that order."""

    def __len__(self) -> int:
        return len(self._pods)

    def hold(self, pod: PodInfo, binding: Any, polls: dict[str, Poll]) -> None:
        """Hold a pod until all conditions hold or one of them fails."""
        watched = tuple(one for poll in polls.values() for one in poll.watched)
        held = self._pods[pod.uid] = PodInPreBind(pod, binding, dict(polls), self._clock.now(), watched)
        for one in watched:
            self._watchers.setdefault(one, {})[pod.uid] = None
        for name, poll in polls.items():
            self._set_deadlines(held, name, poll)
        self._look(held)

    def cancel(self, uid: str, message: str) -> bool:
        """End the wait of a pod; False where it does not wait."""
        held = self._pods.get(uid)
        if held is None or held.status is not None:
            return False
        name, poll = next(iter(held.polls.items()))
        self._fail(held, name, poll, message)
        return True

    def notice(self, watched: Watched) -> None:
        """An object has changed: the pods that depend on it may go on."""
        for uid in list(self._watchers.get(watched, ())):
            held = self._pods[uid]
            if held.status is None:
                self._look(held)

    def take_settled(self) -> PodInPreBind | None:
        """The next pod whose wait is over."""
        if not self.settled:
            return None
        held = self.settled.pop(0)
        del self._pods[held.pod.uid]
        return held

    def close(self) -> None:
        """Releases all pods: the scheduler stops."""
        for held in self._pods.values():
            _cancel(held.timers)

    def _set_deadlines(self, held: PodInPreBind, name: str, poll: Poll) -> None:
        end = held.start + poll.timeout
        held.timers.append(self._clock.at(end, lambda: self._expire(held, name, poll), outer=poll.timeout > 0))
        if poll.changes_at is not None:
            tick = _tick_from(held.start, poll.interval, poll.changes_at)
            if tick < end:
                held.timers.append(self._clock.at(tick, lambda: self._decide(held, name, poll), outer=True))

    def _look(self, held: PodInPreBind) -> None:
        """Set a timer for the next tick of each condition that has an answer now."""
        for name, poll in held.polls.items():
            if poll.condition() is None:
                continue
            tick = _tick_from(held.start, poll.interval, self._clock.now())
            if tick < held.start + poll.timeout:
                self._after(held, tick, lambda n=name, p=poll: self._decide(held, n, p))  # type: ignore[misc]
            else:
                end = held.start + poll.timeout
                self._after(held, end, lambda n=name, p=poll: self._expire(held, n, p))  # type: ignore[misc]

    def _after(self, held: PodInPreBind, when: int, action: Callable[[], None]) -> None:
        held.timers.append(self._clock.at(when, action))

    def _decide(self, held: PodInPreBind, name: str, poll: Poll) -> None:
        """A tick of the poll loop."""
        status = poll.condition() if name in held.polls and held.status is None else None
        if status is None:
            return
        if not status.is_success:
            self._fail(held, name, poll, status.message)
            return
        poll.finished("")
        del held.polls[name]
        if not held.polls:
            self._settle(held, SUCCESS)

    def _expire(self, held: PodInPreBind, name: str, poll: Poll) -> None:
        if name in held.polls and held.status is None:
            self._fail(held, name, poll, poll.expired)

    def _fail(self, held: PodInPreBind, name: str, poll: Poll, message: str) -> None:
        poll.finished(message)
        self._settle(held, failed(name, message))

    def _settle(self, held: PodInPreBind, status: Status) -> None:
        _cancel(held.timers)
        for watched in held.watched:
            uids = self._watchers.get(watched, {})
            uids.pop(held.pod.uid, None)
            if not uids:
                self._watchers.pop(watched, None)
        held.status = status
        self.settled.append(held)


def _tick_from(start: int, interval: int, when: int) -> int:
    """The first tick of a loop at an instant or after it."""
    ticks = max(1, -((start - when) // interval))
    return start + ticks * interval


def _cancel(timers: Iterable[Timer]) -> None:
    for timer in timers:
        timer.cancel()
