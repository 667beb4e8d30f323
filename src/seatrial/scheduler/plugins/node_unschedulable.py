"""NodeUnschedulable: a cordoned node takes no pod, unless the pod tolerates the cordon.

Upstream: pkg/scheduler/framework/plugins/nodeunschedulable.
"""

from typing import Any

import numpy as np

from seatrial.scheduler.cache.node_info import NodeInfo
from seatrial.scheduler.cache.node_table import Nodes
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.cache.pod_terms import Taint
from seatrial.scheduler.framework.interface import Action, Plugin, Reads, requeue
from seatrial.scheduler.framework.status import Verdicts
from seatrial.scheduler.plugins.taint_toleration import COMPARISON_GATE

CORDON = Taint("node.kubernetes.io/unschedulable", effect="NoSchedule")
REASON = "node(s) were unschedulable"


class NodeUnschedulable(Plugin):
    """Honours spec.unschedulable."""

    reads = Reads.NODE
    pre_filters_by_shape = True

    def pre_filter(self, pod: PodInfo, nodes: Nodes) -> None:
        """Leaves all nodes: upstream's skips only resizes of bound pods, behind a gate that is off."""

    def filter(self, pod: PodInfo, nodes: Nodes, state: Any = None) -> Verdicts | None:
        cordoned = nodes.unschedulable
        if not np.count_nonzero(cordoned) or self._tolerates(pod):
            return None
        return Verdicts.reject(cordoned, REASON, resolvable=False)

    @requeue.on("Node", Action.ADD | Action.UPDATE_NODE_TAINT)
    def uncordoned(self, pod: PodInfo, old: NodeInfo | None, new: NodeInfo) -> bool:
        return not new.unschedulable and (old is None or old.unschedulable)

    @requeue.on("Pod", Action.UPDATE_POD_TOLERATION)
    def tolerates_cordon(self, pod: PodInfo, old: PodInfo | None, new: PodInfo) -> bool:
        return new.uid == pod.uid and self._tolerates(new)

    def _tolerates(self, pod: PodInfo) -> bool:
        numbers = bool(self.handle.gates.get(COMPARISON_GATE)) if self.handle else False
        return any(toleration.tolerates(CORDON, numbers) for toleration in pod.shape.tolerations)
