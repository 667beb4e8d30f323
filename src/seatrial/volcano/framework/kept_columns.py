"""Columns that depend on a shape and on each row alone: computed once, and again for changed rows only.

`PlainColumns` computes every column whenever it is asked for: it is the meaning, and the judge of `KeptColumns` in
tests. Both answer with arrays that the caller does not change.
"""

from collections.abc import Callable, Hashable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from seatrial.volcano.cache.node_columns import Rows

Compute = Callable[[Rows | None], NDArray[Any]]
"""The values of some rows, or of all."""
One = Callable[[int], Any]
"""The value of one row, where that is quicker than an array of it."""
Changes = Callable[[int], tuple[int, list[int] | None]]
"""The rows that changed after a mark, with the new mark; None: all of them."""
MANY_ROWS = 64
"""Changed rows beyond which the whole column is computed."""


class Columns(Protocol):
    """Up-to-date columns by key."""

    def get(self, key: Hashable, compute: Compute, one: One | None = None) -> NDArray[Any]: ...


class PlainColumns:
    """Keeps nothing."""

    def __init__(self, changes: Changes) -> None:
        pass

    def get(self, key: Hashable, compute: Compute, one: One | None = None) -> NDArray[Any]:
        return compute(None)


class KeptColumns:
    """Keeps every column and the mark up to which it is true."""

    def __init__(self, changes: Changes) -> None:
        self._changes = changes
        self._kept: dict[Hashable, tuple[int, NDArray[Any]]] = {}

    def get(self, key: Hashable, compute: Compute, one: One | None = None) -> NDArray[Any]:
        known = self._kept.get(key)
        if known is None:
            mark, _ = self._changes(-1)
            column = compute(None)
            self._kept[key] = (mark, column)
            return column
        mark, column = known
        now, rows = self._changes(mark)
        if now == mark:
            return column
        if rows is None or len(rows) > MANY_ROWS:
            column = compute(None)
        elif one is not None and len(rows) == 1:
            column[rows[0]] = one(rows[0])
        elif rows:
            changed = np.asarray(rows, np.intp)
            column[changed] = compute(changed)
        self._kept[key] = (now, column)
        return column


def logged(log: list[int]) -> Changes:
    """The changes of a log of rows."""

    def changes(since: int) -> tuple[int, list[int] | None]:
        now = len(log)
        if since < 0:
            return now, None
        if now - since == 1:
            return now, [log[since]]
        return now, list(dict.fromkeys(log[since:]))

    return changes
