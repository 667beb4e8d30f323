"""NodePorts: two pods cannot have the same host port on one node.

Upstream: pkg/scheduler/framework/plugins/nodeports (v1.36).
"""

from typing import Any

import numpy as np

from seatrial.scheduler.cache.node_info import ports_conflict
from seatrial.scheduler.cache.node_table import Nodes, NodeTable
from seatrial.scheduler.cache.pod_info import PodInfo, PodShape
from seatrial.scheduler.framework.interface import Action, Plugin, Reads, Requeue, requeue
from seatrial.scheduler.framework.status import MISSING, SKIP, Verdicts

REASON = "node(s) didn't have free ports for the requested pod ports"


class NodePorts(Plugin):
    """Checks only nodes on which one of the wanted ports is in use."""

    reads = Reads.ROW
    requeues = (Requeue("Node", Action.ADD),)

    def skips_shape(self, shape: PodShape) -> bool:
        return not shape.host_ports

    def pre_filter(self, pod: PodInfo, nodes: Nodes) -> Any:
        return pod.shape.host_ports or SKIP

    def filter(self, pod: PodInfo, nodes: Nodes, state: Any = MISSING) -> Verdicts:
        if state is MISSING:
            return Verdicts.failed(nodes, 'reading "PreFilterNodePorts" from cycleState: not found')
        taken = np.zeros(len(nodes), np.bool_)
        for place in self._suspects(nodes, state):
            taken[place] = ports_conflict(state, nodes[place].ports)
        return Verdicts.reject(taken, REASON)

    def filter_row(self, pod: PodInfo, table: NodeTable, row: int, state: Any) -> int:
        """The verdict on one row."""
        node = table.infos[row]
        return int(node is not None and ports_conflict(state, node.ports))

    @requeue.on("Pod", Action.DELETE)
    def port_released(self, pod: PodInfo, old: PodInfo, new: None) -> bool:
        return bool(old.node or old.nominated_node) and ports_conflict(pod.shape.host_ports, set(old.shape.host_ports))

    def _suspects(self, nodes: Nodes, wanted: Any) -> list[int]:
        if nodes.is_whole:
            rows = nodes.table.port_rows
            return sorted({row for protocol, _, port in wanted for row in rows.get((protocol, port), ())})
        return list(range(len(nodes)))
