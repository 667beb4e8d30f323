"""SchedulingGates: a pod with gates does not enter the queue.

Upstream: pkg/scheduler/framework/plugins/schedulinggates (v1.36).
"""

from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.framework.interface import Action, Plugin, requeue
from seatrial.scheduler.framework.status import Status, unresolvable


class SchedulingGates(Plugin):
    """Holds pods back while they have gates."""

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        gates = pod.spec.get("schedulingGates")
        if not gates:
            return None
        return unresolvable(f"waiting for scheduling gates: [{' '.join([gate.get('name', '') for gate in gates])}]")

    @requeue.on("Pod", Action.UPDATE_POD_GATES_ELIMINATED)
    def gates_eliminated(self, pod: PodInfo, old: PodInfo | None, new: PodInfo) -> bool:
        return new.uid == pod.uid
