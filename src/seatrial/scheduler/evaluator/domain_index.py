"""The nodes that pass the columns of a shape and its checks of topology domains, in the order of the search.

Spread and affinity filters depend on sums of whole domains. Which domains they allow changes rarely from one pod to the
next: the index compares that with the last time and changes only the rows of domains that are judged otherwise. Large
domains that are judged one way and the other by turns, as zones are, have a list of nodes for each way.
"""

from collections.abc import Sequence

import numpy as np

from seatrial.scheduler.cache.node_table import Ids, Mask, NodeTable, Rows
from seatrial.scheduler.evaluator.feasible_index import Passing
from seatrial.scheduler.framework.row_rules import NO_LIMIT, DomainCheck

FEW_ROWS = 8
"""Up to how many rows are changed one by one."""
MOST_LISTS = 8
Allowed = list[Mask]
"""By check: which domains pass; the last place is that of nodes without the label."""


class _Judged:
    """The nodes that pass if so many domains are allowed."""

    def __init__(self, order: Rows, blocked: Mask, allowed: Allowed, ids: list[Ids]) -> None:
        self.allowed = allowed
        self._ids = ids
        self._barred: Mask = np.zeros(len(blocked), np.bool_)
        for mask, domains in zip(allowed, ids, strict=True):
            self._barred |= ~mask[domains]
        self.passing = Passing(order, blocked | self._barred)

    def block(self, row: int, blocked: bool) -> None:
        """The columns have another verdict on a row."""
        if not self._barred.item(row):
            self.passing.change(row, not blocked)

    def rows_judged_otherwise(self, allowed: Allowed) -> list[int] | None:
        """The rows of the domains whose verdict is another one; None if they are many."""
        rows: list[int] = []
        for mask, known, ids in zip(allowed, self.allowed, self._ids, strict=True):
            for domain in (mask != known).nonzero()[0].tolist():
                rows += (ids == (domain if domain < len(mask) - 1 else -1)).nonzero()[0].tolist()
                if len(rows) > FEW_ROWS:
                    return None
        return rows

    def judge(self, allowed: Allowed, rows: list[int], blocked: Mask) -> None:
        """Takes over verdicts that differ on some rows only."""
        self.allowed = allowed
        for row in rows:
            barred = any(not mask.item(ids.item(row)) for mask, ids in zip(allowed, self._ids, strict=True))
            if barred != self._barred.item(row):
                self._barred[row] = barred
                if not blocked.item(row):
                    self.passing.change(row, not barred)


class DomainIndex:
    """`blocked` are the rows that the columns of the shape reject; it is kept up to date by those."""

    def __init__(self, table: NodeTable, order: Rows, blocked: Mask) -> None:
        self.order = order
        self._table, self._blocked = table, blocked
        self._version = -1
        self._keys: list[tuple[str, int]] = []
        self._ids: list[Ids] = []
        self._lists: dict[tuple[bytes, ...], _Judged] = {}
        self._last: tuple[bytes, ...] = ()
        self.rows_changed = 0

    def change(self, row: int) -> None:
        """The columns have another verdict on a row."""
        blocked = self._blocked.item(row)
        for judged in self._lists.values():
            judged.block(row, blocked)

    def find(self, checks: Sequence[DomainCheck], start: int, limit: int) -> tuple[Rows, int]:
        """The first `limit` rows from a place on, and how many nodes are visited until one more is met."""
        keys = [(check.key, len(check.sums)) for check in checks]
        if self._version != self._table.version or keys != self._keys:
            self._begin(keys)
        allowed = [_allowed(check) for check in checks]
        name = tuple([mask.tobytes() for mask in allowed])
        judged = self._lists.get(name) or self._judged(name, allowed)
        self._last = name
        return judged.passing.find(start, limit)

    def _begin(self, keys: list[tuple[str, int]]) -> None:
        table = self._table
        self._version, self._keys = table.version, keys
        self._ids = [table.label(key).ids[: table.size] for key, _ in keys]
        self._lists.clear()

    def _judged(self, name: tuple[bytes, ...], allowed: Allowed) -> _Judged:
        """The list for some verdicts: the last one with few rows changed, or a new one."""
        last = self._lists.get(self._last)
        rows = None if last is None else last.rows_judged_otherwise(allowed)
        if last is not None and rows is not None:
            del self._lists[self._last]
            last.judge(allowed, rows, self._blocked)
            self.rows_changed += len(rows)
        else:
            while len(self._lists) >= MOST_LISTS:
                del self._lists[next(iter(self._lists))]
            last = _Judged(self.order, self._blocked, allowed, self._ids)
            self.rows_changed += self._table.size
        self._lists[name] = last
        return last


def _allowed(check: DomainCheck) -> Mask:
    _, sums, lowest, highest, needs_label = check
    allowed: Mask
    if lowest == -NO_LIMIT:
        allowed = sums <= highest
    elif highest == NO_LIMIT:
        allowed = sums >= lowest
    else:
        allowed = (sums >= lowest) & (sums <= highest)
    if needs_label:
        allowed[-1] = False
    return allowed
