"""SchedulingGates: a pod with gates does not enter the queue.

Upstream: pkg/scheduler/framework/plugins/schedulinggates (v1.36).
"""

from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.framework.interface import Action, Plugin, requeue
from seatrial.scheduler.framework.status import Status, unresolvable


class SchedulingGates(Plugin):
    """Holds pods back while they have gates."""

    default_order = 10

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        gates = [gate.get("name", "") for gate in pod.spec.get("schedulingGates") or ()]
        return unresolvable(f"waiting for scheduling gates: [{' '.join(gates)}]") if gates else None

    @requeue.on("Pod", Action.UPDATE_POD_GATES_ELIMINATED)
    def gates_eliminated(self, pod: PodInfo, old: PodInfo | None, new: PodInfo) -> bool:
        return new.uid == pod.uid
