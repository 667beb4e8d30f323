"""The order nodes are searched in: one of each zone in turn, zones by first appearance, nodes by arrival.

Upstream: pkg/scheduler/backend/cache/node_tree.go.
"""


class NodeTree:
    """Nodes by zone. A zone that loses its last node goes, and comes back at the end."""

    def __init__(self) -> None:
        self._zones: dict[str, dict[str, None]] = {}

    def add(self, name: str, zone: str) -> None:
        self._zones.setdefault(zone, {})[name] = None

    def remove(self, name: str, zone: str) -> None:
        nodes = self._zones.get(zone, {})
        nodes.pop(name, None)
        if not nodes:
            self._zones.pop(zone, None)

    def names(self) -> list[str]:
        """All nodes, taking one of each zone in turn until none is left."""
        listed = [list(nodes) for nodes in self._zones.values()]
        return [
            nodes[turn] for turn in range(max(map(len, listed), default=0)) for nodes in listed if turn < len(nodes)
        ]
