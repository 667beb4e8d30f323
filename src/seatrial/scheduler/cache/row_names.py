"""Names of nodes by row. A record of an attempt holds rows; the names are read when they are written down."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import overload

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.intp]
MOST_KEY = 1 << 62
"""A total and the rank of a name make one number up to here."""


class RowNames:
    """The names of all rows of a table at one time; an equal set of nodes has the same object."""

    def __init__(self, names: NDArray[np.object_]) -> None:
        self.names = names

    @cached_property
    def by_name(self) -> Rows:
        """All rows in the order of their names."""
        return np.argsort(self.names, kind="stable")

    @cached_property
    def ranks(self) -> NDArray[np.int64]:
        """For each row the position of its name among all names in order."""
        ranks = np.empty(len(self.names), np.int64)
        ranks[self.by_name] = np.arange(len(self.names))
        return ranks


class NodeNames(Sequence[str]):
    """The names of some rows."""

    __slots__ = ("of", "rows")

    def __init__(self, of: RowNames, rows: Rows) -> None:
        self.of, self.rows = of, rows

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[str]:
        return iter(self.listed())

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[str]: ...
    def __getitem__(self, place: int | slice) -> str | Sequence[str]:
        if isinstance(place, slice):
            return NodeNames(self.of, self.rows[place])
        name: str = self.of.names[self.rows[place]]
        return name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self.listed() == list(other)

    def __hash__(self) -> int:
        return hash(tuple(self.listed()))

    def __repr__(self) -> str:
        return repr(self.listed())

    def highest(self, totals: NDArray[np.int64], number: int) -> list[int]:
        """The positions of the `number` highest totals; of equal ones those whose names come first."""
        ranks = self.of.ranks
        if len(ranks) * max(totals.item(totals.argmax()), -totals.item(totals.argmin())) > MOST_KEY:
            ordered: list[int] = np.lexsort((ranks[self.rows], -totals))[:number].tolist()
            return ordered
        keys = totals * len(ranks)
        keys -= ranks[self.rows]
        places: list[int] = keys.argpartition(-number)[-number:].tolist()
        return places

    def where(self, mask: NDArray[np.bool_]) -> "NodeNames":
        """Some of the names."""
        return NodeNames(self.of, self.rows[mask])

    def rows_by_name(self) -> Rows:
        """The rows in the order of their names."""
        chosen = np.zeros(len(self.of.names), np.bool_)
        chosen[self.rows] = True
        return self.of.by_name[chosen[self.of.by_name]]

    def listed(self) -> list[str]:
        """The names as a list."""
        names: list[str] = self.of.names[self.rows].tolist()
        return names
