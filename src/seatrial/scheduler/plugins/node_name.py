"""NodeName: a pod that names its node fits no other.

Upstream: pkg/scheduler/framework/plugins/nodename.
"""

from typing import Any

from seatrial.scheduler.cache.node_table import Nodes
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.framework.interface import Action, Narrowed, Plugin, Requeue
from seatrial.scheduler.framework.status import Verdicts

REASON = "node(s) didn't match the requested node name"


class NodeName(Plugin):
    """Compares spec.nodeName; it belongs to the pod and not to its shape, so nothing is cached."""

    pre_filters_by_shape = True
    requeues = (Requeue("Node", Action.ADD),)

    def concerns(self, pod: PodInfo) -> bool:
        """Only pods that name a node."""
        return bool(pod.node)

    def pre_filter(self, pod: PodInfo, nodes: Nodes) -> Narrowed | None:
        return Narrowed(frozenset((pod.node,))) if pod.node else None

    def filter(self, pod: PodInfo, nodes: Nodes, state: Any = None) -> Verdicts | None:
        if not pod.node:
            return None
        return Verdicts.reject(nodes.rows != nodes.table.row_of.get(pod.node, -1), REASON, resolvable=False)
