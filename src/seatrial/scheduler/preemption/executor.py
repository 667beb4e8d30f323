"""Carrying a preemption out: lesser nominations are cleared, victims are marked and deleted.

Upstream sends these calls in the background. Here they are made after the preemptor went back to the queue, in the
same turn; PreEnqueue holds it back until the deletion of the last victim was sent, as upstream's does. With
SchedulerAsyncPreemption off they are made before it goes back.
Upstream: pkg/scheduler/framework/preemption/executor.go (v1.36.3).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from seatrial.model.errors import NotFound, StatusError
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.cache.store_cluster import WRITER, kind_named
from seatrial.scheduler.framework.interface import PostFiltered
from seatrial.scheduler.framework.pre_bind import PodsInPreBind
from seatrial.scheduler.framework.waiting_pods import WaitingPods
from seatrial.scheduler.queue import PodNominator
from seatrial.scheduler.schedule_one.event_series import EventReporter
from seatrial.scheduler.schedule_one.pod_status import PodStatusWriter
from seatrial.store import Store

PLUGIN = "DefaultPreemption"
Find = Callable[[str], PodInfo | None]
"""The present pod of a key (namespace/name)."""


@dataclass(frozen=True, slots=True)
class ChosenVictims:
    """Victims on a node for the sake of a pod."""

    pod: PodInfo
    node: str
    victims: Sequence[PodInfo]

    @property
    def leaving(self) -> list[PodInfo]:
        """Those of which the deletion has not been sent yet."""
        return [victim for victim in self.victims if not victim.deleting]


class RunningPreemptions:
    """Pods whose victims are being deleted; plugins find it as `handle.shared["preempting"]`."""

    def __init__(self, find: Find) -> None:
        self._find = find
        self._last_victims: dict[str, str] = {}
        """By uid of the preemptor: the key of the last victim, empty while others are to be deleted before it."""

    def __contains__(self, uid: str) -> bool:
        """Whether deletions for this pod have not all been sent."""
        key = self._last_victims.get(uid)
        if not key:
            return key is not None
        victim = self._find(key)
        return victim is not None and not victim.deleting

    def begin(self, uid: str) -> None:
        self._last_victims[uid] = ""

    def is_at_last(self, uid: str, victim: PodInfo) -> None:
        if uid in self._last_victims:
            self._last_victims[uid] = victim.key

    def end(self, uid: str) -> None:
        self._last_victims.pop(uid, None)


class Executor:
    """Makes room for pods."""

    def __init__(
        self,
        store: Store,
        status: PodStatusWriter,
        nominator: PodNominator,
        waiting: WaitingPods,
        pre_binding: PodsInPreBind,
        events: EventReporter | None,
        running: RunningPreemptions,
        find: Find,
        *,
        is_async: bool = True,
    ) -> None:
        self._store, self._status, self._nominator = store, status, nominator
        self._waiting, self._pre_binding, self._events = waiting, pre_binding, events
        self._running, self._find = running, find
        self.is_async = is_async
        """Whether victims are deleted after the preemptor went back to the queue."""
        self._pods = kind_named(store.kinds, "Pod")

    def prepare(self, pod: PodInfo, post: PostFiltered | None) -> ChosenVictims | None:
        """The victims that PostFilter chose, None without one to delete; the pod is held back from now on."""
        if post is None or not post.nominated_node:
            return None
        chosen = ChosenVictims(pod, post.nominated_node, post.victims)
        if not chosen.leaving:
            return None
        if self.is_async:
            self._running.begin(pod.uid)
        return chosen

    def carry_out(self, chosen: ChosenVictims) -> str:
        """Delete the victims on a node for the sake of a pod; why the API did not let one go, else empty.

        Those after it stay, too.
        """
        pod, node, leaving = chosen.pod, chosen.node, chosen.leaving
        if self.is_async:
            self._clear_nominations(pod, node)
        try:
            for victim in leaving:
                if victim is leaving[-1]:
                    self._running.is_at_last(pod.uid, victim)
                self._evict(pod, node, victim)
        except StatusError as failure:
            return str(failure)
        finally:
            self._running.end(pod.uid)
        if not self.is_async:
            self._clear_nominations(pod, node)
        return ""

    def _clear_nominations(self, pod: PodInfo, node: str) -> None:
        """Pods of lower priority that are nominated to a node look for another place."""
        for other in list(self._nominator.nominated_to(node)):
            if other.priority < pod.priority and other.nominated_node:
                self._status.nominate(other, "")

    def _evict(self, pod: PodInfo, node: str, victim: PodInfo) -> None:
        profile = pod.shape.scheduler_name
        in_memory = self._cancel(victim)
        if not in_memory:
            victim = self._find(victim.key) or victim
        if not in_memory and not self._delete(victim, profile):
            return
        if self._events is not None:
            self._events.preempted(victim, pod, node, profile, in_memory=in_memory)

    def _cancel(self, victim: PodInfo) -> bool:
        """Take a pod back that is not bound yet; False where it does not wait."""
        waiting = self._waiting.get(victim.uid)
        if waiting is not None:
            return waiting.preempt(PLUGIN)
        return self._pre_binding.cancel(victim.uid, f"preempted by {PLUGIN}")

    def _delete(self, victim: PodInfo, scheduler: str) -> bool:
        """Mark and delete a victim; False where it is gone already."""
        if not self._status.preempted(victim, scheduler):
            return False
        try:
            self._store.delete(self._pods, victim.name, writer=WRITER, namespace=victim.namespace)
        except NotFound:
            return False
        return True
