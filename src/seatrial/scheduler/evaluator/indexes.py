"""The indexes over the verdicts of one set of columns. An index takes over changed verdicts when it is asked next.

Pods that differ in inter-pod affinity and spread constraints share columns; each of their specs has an index of its
own, since it is judged by other domains.
"""

from collections.abc import Iterable

from seatrial.scheduler.cache.node_table import Mask, NodeTable, Rows
from seatrial.scheduler.cache.pod_info import PodSpec
from seatrial.scheduler.evaluator.domain_index import DomainIndex
from seatrial.scheduler.evaluator.feasible_index import Passing

FEW_CHANGES = 64
"""The most changed verdicts that are taken over one by one; with more of them the index is rebuilt."""
MOST_CHANGES = 4096
FEWEST_SPECS, MOST_ROWS = 8, 1 << 20
"""How many specs have an index: so many, or as many as have so many rows together."""


class Indexes:
    """`blocked` are the rows that the columns reject; the columns keep it up to date."""

    def __init__(self, table: NodeTable, blocked: Mask) -> None:
        self._table, self._blocked = table, blocked
        self._passing: Passing | None = None
        self._domains: dict[PodSpec, DomainIndex] = {}
        self._changes: list[int] = []
        """Rows in the order in which their verdicts changed."""

    def change(self, rows: Iterable[int]) -> None:
        """The columns have other verdicts on some rows."""
        self._changes += rows
        if len(self._changes) > MOST_CHANGES:
            self.drop()

    def drop(self) -> None:
        """Any verdict may have changed."""
        self._passing = None
        self._domains.clear()
        self._changes.clear()

    def passing(self, order: Rows) -> Passing:
        """The nodes that no column rejects, in an order."""
        found = self._passing
        if (
            found is None
            or found.order is not order
            or (found.seen != len(self._changes) and not self._takes_over(found))
        ):
            found = self._passing = Passing(order, self._blocked)
            found.seen = len(self._changes)
        return found

    def in_domains(self, order: Rows, spec: PodSpec) -> DomainIndex:
        """The nodes that neither a column nor a check of domains rejects, in an order."""
        found = self._domains.pop(spec, None)
        if (
            found is None
            or found.order is not order
            or (found.seen != len(self._changes) and not self._takes_over(found))
        ):
            found = DomainIndex(self._table, order, self._blocked)
            found.seen = len(self._changes)
            while len(self._domains) >= max(FEWEST_SPECS, MOST_ROWS // max(self._table.size, 1)):
                del self._domains[next(iter(self._domains))]
        self._domains[spec] = found
        return found

    def _takes_over(self, index: Passing | DomainIndex) -> bool:
        """Whether an index takes over the verdicts that have changed; not if there are too many of them."""
        changes = self._changes
        if len(changes) - index.seen > FEW_CHANGES:
            return False
        for row in changes[index.seen :]:
            index.change(row, not self._blocked.item(row))
        index.seen = len(changes)
        return True
