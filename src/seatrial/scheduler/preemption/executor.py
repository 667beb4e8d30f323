"""Carrying a preemption out: lesser nominations are cleared, victims are marked and deleted.

Upstream sends these calls in the background and holds the preemptor back by PreEnqueue meanwhile; here they are made
at once, after the preemptor went back to the queue. Upstream: pkg/scheduler/framework/preemption/executor.go (v1.36.3).
"""

from collections.abc import Sequence

from seatrial.model.errors import NotFound, StatusError
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.cache.store_cluster import WRITER, kind_named
from seatrial.scheduler.framework.waiting_pods import WaitingPods
from seatrial.scheduler.queue import PodNominator
from seatrial.scheduler.schedule_one.event_series import EventReporter
from seatrial.scheduler.schedule_one.pod_status import PodStatusWriter
from seatrial.store import Store

PLUGIN = "DefaultPreemption"


class Preempter:
    """Makes room for pods."""

    def __init__(
        self,
        store: Store,
        status: PodStatusWriter,
        nominator: PodNominator,
        waiting: WaitingPods,
        events: EventReporter | None,
    ) -> None:
        self._store, self._status, self._nominator = store, status, nominator
        self._waiting, self._events = waiting, events
        self._pods = kind_named(store.kinds, "Pod")

    def preempt(self, pod: PodInfo, node: str, victims: Sequence[PodInfo]) -> None:
        """Delete the victims on a node for the sake of a pod.

        Where the API does not let one go the rest stay too; the pod is tried again when something changes. (Upstream
        tries it again at once, which without the delays of a network would never end.)
        """
        leaving = [victim for victim in victims if not victim.deleting]
        if not leaving:
            return
        for other in list(self._nominator.nominated_to(node)):
            if other.priority < pod.priority and other.nominated_node:
                self._status.nominate(other, "")
        try:
            for victim in leaving:
                self._evict(pod, node, victim)
        except StatusError:
            return

    def _evict(self, pod: PodInfo, node: str, victim: PodInfo) -> None:
        profile = pod.shape.scheduler_name
        waiting = self._waiting.get(victim.uid)
        in_memory = waiting is not None and waiting.preempt(PLUGIN)
        if not in_memory and not self._delete(victim, profile):
            return
        if self._events is not None:
            self._events.preempted(victim, pod, node, profile, in_memory=in_memory)

    def _delete(self, victim: PodInfo, scheduler: str) -> bool:
        """Mark and delete a victim; False where it is gone already."""
        if not self._status.preempted(victim, scheduler):
            return False
        try:
            self._store.delete(self._pods, victim.name, writer=WRITER, namespace=victim.namespace)
        except NotFound:
            return False
        return True
