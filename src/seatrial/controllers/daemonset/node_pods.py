"""One DaemonSet's pods by node, with running counts.

With thousands of nodes a sync cannot visit all of them for every pod that starts: only nodes on which something has
changed are visited, and the counts of the status are updated with them.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from seatrial.controllers.daemonset.placement import NOWHERE, Placement, Wish
from seatrial.controllers.framework.pod_row import PodRow

REVISION = "controller-revision-hash"
GENERATION = "pod-template-generation"


class Share(NamedTuple):
    """The contribution of one node to the status."""

    desired: int = 0
    current: int = 0
    misscheduled: int = 0
    ready: int = 0
    available: int = 0
    updated: int = 0


NOTHING = Share()


@dataclass(slots=True)
class Fleet:
    """The nodes as one DaemonSet, at one generation, sees them."""

    generation: int
    placement: Placement
    hash: str
    template_generation: str | None
    min_ready: int
    wishes: dict[str, Wish] = field(default_factory=dict)
    by_node: dict[str, dict[str, PodRow]] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    changed: dict[str, None] = field(default_factory=dict)
    shares: dict[str, Share] = field(default_factory=dict)
    total: Share = NOTHING

    def wish(self, node: str) -> Wish:
        return self.wishes.get(node, NOWHERE)

    def set_wish(self, node: str, wish: Wish | None) -> None:
        """Set whether a node should run a pod; None where the node is gone."""
        if wish == self.wishes.get(node):
            return
        if wish is None:
            del self.wishes[node]
        else:
            self.wishes[node] = wish
        self.changed[node] = None

    def put(self, name: str, row: PodRow, node: str) -> None:
        """A pod as it is now, on the node that it is bound to or was made for."""
        self.take_out(name)
        self.places[name] = node
        self.by_node.setdefault(node, {})[name] = row
        self.changed[node] = None

    def take_out(self, name: str) -> None:
        """A pod is gone, or no longer ours."""
        node = self.places.pop(name, None)
        if node is None:
            return
        del self.by_node[node][name]
        if not self.by_node[node]:
            del self.by_node[node]
        self.changed[node] = None

    def rows(self, node: str) -> list[PodRow]:
        """A node's pods: bound ones first, then by age."""
        return sorted(self.by_node.get(node, {}).values(), key=lambda row: (not row.node, row.created, row.name))

    def is_updated(self, row: PodRow) -> bool:
        is_of_generation = self.template_generation is not None and (
            row.labels.get(GENERATION) == self.template_generation
        )
        return row.labels.get(REVISION) == self.hash or is_of_generation

    def is_available(self, row: PodRow, now: int) -> bool:
        return row.is_available(now, self.min_ready)

    def count(self, node: str, now: int) -> None:
        """Bring a node's share of the status up to date."""
        share = self._share(node, now) if node in self.wishes else NOTHING
        before = self.shares.get(node, NOTHING)
        if share != before:
            self.total = Share(*(a + b - c for a, b, c in zip(self.total, share, before, strict=True)))
            self.shares[node] = share

    def waiting(self) -> list[str]:
        """Nodes whose pod is ready but not yet available."""
        return [node for node, share in self.shares.items() if share.ready and not share.available]

    def updates(self) -> dict[str, tuple[PodRow | None, PodRow | None] | None]:
        """For each node with pods: the new and the old one, None where there are several of either."""
        found: dict[str, tuple[PodRow | None, PodRow | None] | None] = {}
        for node in self.by_node:
            alive = [row for row in self.rows(node) if not row.is_deleting]
            new = [row for row in alive if self.is_updated(row)]
            old = [row for row in alive if not self.is_updated(row)]
            is_clear = len(new) < 2 and len(old) < 2
            found[node] = (next(iter(new), None), next(iter(old), None)) if is_clear else None
        return found

    def _share(self, node: str, now: int) -> Share:
        rows = self.rows(node)
        if not self.wishes[node].should_run:
            return Share(misscheduled=1) if rows else NOTHING
        if not rows:
            return Share(desired=1)
        first = rows[0]
        is_available = first.is_ready and self.is_available(first, now)
        return Share(1, 1, 0, int(first.is_ready), int(is_available), int(self.is_updated(first)))
