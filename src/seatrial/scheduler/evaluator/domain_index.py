"""The nodes that pass the columns of a shape and its checks of topology domains, in the order of the search.

Spread and affinity filters depend on sums of whole domains. Which domains they allow changes rarely from one pod to the
next: the index compares that with the last time and changes only the rows of domains that are judged otherwise. Large
domains that are judged one way and the other by turns, as zones are, have a list of nodes for each way.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from seatrial.scheduler.cache.node_table import Ids, Mask, NodeTable, Rows
from seatrial.scheduler.evaluator.feasible_index import Passing
from seatrial.scheduler.framework.row_rules import NO_LIMIT, DomainCheck

FEW_ROWS = 8
"""Up to how many rows are changed one by one."""
MOST_LISTS = 8
Allowed = list[Mask]
"""By check: which domains pass; the last place is that of nodes without the label."""


class _Domains:
    """The domain of each row by one label, and the rows of each domain."""

    def __init__(self, table: NodeTable, key: str, sums: int) -> None:
        self.key, self.size = key, sums
        self.ids: Ids = table.label(key).ids[: table.size]
        self._numbers = np.bincount(self.ids % sums, minlength=sums)
        """Rows by domain; -1, no label, is the last one."""
        self._some = np.zeros(sums, np.intp)
        self._some[self.ids] = np.arange(table.size)

    def rows(self, domains: list[int], most: int) -> list[int] | None:
        """The rows of some domains; None if there are too many."""
        if len(domains) > most or sum(self._numbers.item(domain) for domain in domains) > most:
            return None
        rows: list[int] = []
        for domain in domains:
            if self._numbers.item(domain) == 1:
                rows.append(self._some.item(domain))
            else:
                rows += np.flatnonzero(self.ids % self.size == domain).tolist()
        return rows


class _Judged:
    """The nodes that pass if certain domains are allowed."""

    def __init__(self, order: Rows, blocked: Mask, allowed: Allowed, labels: list[_Domains]) -> None:
        self.allowed = allowed
        self._blocked, self._labels = blocked, labels
        self._barred: Mask = np.zeros(len(blocked), np.bool_)
        for mask, label in zip(allowed, labels, strict=True):
            self._barred |= ~mask[label.ids]
        self.passing = Passing(order, blocked | self._barred)

    @property
    def name(self) -> tuple[bytes, ...]:
        return tuple([mask.tobytes() for mask in self.allowed])

    def change(self, row: int, passes: bool) -> None:
        """The verdict of the columns on a row."""
        if not self._barred.item(row):
            self.passing.change(row, passes)

    def rows_judged_otherwise(self, allowed: Allowed) -> dict[int, None] | None:
        """The rows of the domains whose verdict is another one; None if they are many."""
        found: dict[int, None] = {}
        for mask, known, label in zip(allowed, self.allowed, self._labels, strict=True):
            domains: list[int] = (mask != known).nonzero()[0].tolist()
            rows = label.rows(domains, FEW_ROWS) if domains else []
            if rows is None:
                return None
            found.update(dict.fromkeys(rows))
        return found

    def judge(self, allowed: Allowed, rows: Iterable[int]) -> None:
        """Takes over verdicts that differ on some rows only."""
        self.allowed = allowed
        for row in rows:
            barred = any(not mask.item(one.ids.item(row)) for mask, one in zip(allowed, self._labels, strict=True))
            if barred != self._barred.item(row):
                self._barred[row] = barred
                if not self._blocked.item(row):
                    self.passing.change(row, not barred)


class DomainIndex:
    """`blocked` are the rows that the columns of the shape reject; it is kept up to date by those."""

    def __init__(self, table: NodeTable, order: Rows, blocked: Mask) -> None:
        self.order = order
        self.seen = 0
        """How many changes of verdicts have been taken over."""
        self._table, self._blocked = table, blocked
        self._version = -1
        self._labels: list[_Domains] = []
        self._present: _Judged | None = None
        self._others: dict[tuple[bytes, ...], _Judged] = {}
        """Lists for other verdicts on large domains, by these."""
        self.rows_changed = 0

    def change(self, row: int, passes: bool) -> None:
        """The verdict of the columns on a row."""
        if self._present is not None:
            self._present.change(row, passes)
        for judged in self._others.values():
            judged.change(row, passes)

    def find(self, checks: Sequence[DomainCheck], start: int, limit: int) -> tuple[Rows, int]:
        """The first `limit` rows from a place on, and how many nodes are visited until one more is met."""
        if self._version != self._table.version or not self._are_like_before(checks):
            self._begin(checks)
        allowed = [_allowed(check) for check in checks]
        present = self._present
        rows = None if present is None else present.rows_judged_otherwise(allowed)
        if present is None or rows is None:
            present = self._turn_to(allowed)
        elif rows:
            present.judge(allowed, rows)
            self.rows_changed += len(rows)
        return present.passing.find(start, limit)

    def _are_like_before(self, checks: Sequence[DomainCheck]) -> bool:
        if len(checks) != len(self._labels):
            return False
        for check, label in zip(checks, self._labels, strict=True):
            if check.key != label.key or len(check.sums) != label.size:
                return False
        return True

    def _begin(self, checks: Sequence[DomainCheck]) -> None:
        self._version = self._table.version
        sizes = {check.key: len(check.sums) for check in checks}
        domains = {key: _Domains(self._table, key, size) for key, size in sizes.items()}
        self._labels = [domains[check.key] for check in checks]
        self._present = None
        self._others.clear()

    def _turn_to(self, allowed: Allowed) -> _Judged:
        """Goes on with the list for verdicts that differ on many rows from the last ones."""
        others = self._others
        if self._present is not None:
            others[self._present.name] = self._present
        found = others.pop(tuple([mask.tobytes() for mask in allowed]), None)
        if found is None:
            found = _Judged(self.order, self._blocked, allowed, self._labels)
            self.rows_changed += self._table.size
        while len(others) >= MOST_LISTS:
            del others[next(iter(others))]
        self._present = found
        return found


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
