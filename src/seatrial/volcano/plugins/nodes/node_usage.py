"""How busy nodes are, for plugins that go by real load.

Volcano asks Prometheus or the metrics server. Here a pod uses what it requests, or what its usage annotation says, as
for `kubectl top`; the figures are always fresh. Upstream: pkg/scheduler/metrics/source, api/node_info.go (NodeUsage).
"""

from dataclasses import dataclass

from seatrial.controllers import pod_usage
from seatrial.volcano.cache.node_info import NodeInfo
from seatrial.volcano.framework.session import Session


@dataclass(slots=True)
class NodeUsage:
    """Percentages of a node's capacity that its pods use."""

    cpu: float
    memory: float


def node_usages(session: Session) -> dict[str, NodeUsage]:
    """The usage of every node when the session opened; kept for the plugins of a session."""
    if _KEY not in session.notes:
        session.notes[_KEY] = {node.name: _usage(node) for node in session.node_list}
    usages: dict[str, NodeUsage] = session.notes[_KEY]
    return usages


_KEY = "node usage"


def _usage(node: NodeInfo) -> NodeUsage:
    used = [pod_usage(task.document) for task in node.tasks.values()]
    cpu, memory = (sum(entry.get(name, 0) for entry in used) for name in ("cpu", "memory"))
    capacity = node.capacity
    return NodeUsage(
        100.0 * cpu / capacity.cpu if capacity.cpu else 0.0,
        100.0 * memory / 1000 / capacity.memory if capacity.memory else 0.0,
    )
