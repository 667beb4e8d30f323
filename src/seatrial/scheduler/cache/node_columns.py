"""Columns of node facts as small integers: label values, sets of taints, images.

Upstream: pkg/scheduler/backend/cache/cache.go (image states).
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from seatrial.scheduler.cache.node_info import NodeInfo
from seatrial.scheduler.cache.pod_terms import Taint

ABSENT = -1


class LabelColumn:
    """One label over all rows: `ids[row]` is a number for its value, ABSENT without the label."""

    def __init__(self, key: str, infos: Sequence[NodeInfo | None]) -> None:
        self.key = key
        self.values: list[str] = []
        self._numbers: dict[str, int] = {}
        self.ids: NDArray[np.int32] = np.full(max(64, 2 * len(infos)), ABSENT, np.int32)
        for row, node in enumerate(infos):
            if node is not None:
                self.write(row, node.labels)

    def write(self, row: int, labels: Mapping[str, str]) -> None:
        """Sets the value of a row."""
        if row >= len(self.ids):
            self.ids = np.concatenate((self.ids, np.full(row + 1, ABSENT, np.int32)))
        value = labels.get(self.key)
        self.ids[row] = ABSENT if value is None else self.number(value)

    def number(self, value: str) -> int:
        """The number of a value; a new one where it was never seen."""
        number = self._numbers.get(value)
        if number is None:
            number = self._numbers[value] = len(self.values)
            self.values.append(value)
        return number

    def find(self, value: str) -> int:
        """The number of a value, ABSENT - 1 where no node ever had it."""
        return self._numbers.get(value, ABSENT - 1)


class TaintSets:
    """The different sets of taints: nodes share few."""

    def __init__(self) -> None:
        self.sets: list[tuple[Taint, ...]] = [()]
        self._numbers: dict[tuple[Taint, ...], int] = {(): 0}

    def number(self, taints: tuple[Taint, ...]) -> int:
        """The number of a set."""
        number = self._numbers.get(taints)
        if number is None:
            number = self._numbers[taints] = len(self.sets)
            self.sets.append(taints)
        return number


class ImageColumns:
    """Which row has which image.

    Upstream counts the nodes that have an image when it takes the snapshot of a node, and takes that only when the
    node or its pods changed. So a node may remember an older count; `seen` keeps what each row remembers.
    """

    def __init__(self) -> None:
        self._sizes: dict[str, int] = {}
        self._rows: dict[str, set[int]] = {}
        self._names: dict[int, tuple[str, ...]] = {}
        self.seen: dict[str, dict[int, tuple[int, int]]] = {}
        """Image name -> row -> (size, nodes having it)."""
        self._stale: set[int] = set()

    def write(self, row: int, node: NodeInfo) -> None:
        """A node has come or changed."""
        if not node.images and row not in self._names:
            return
        self.forget(row)
        names = [name for listed, _ in node.images for name in listed]
        for listed, size in node.images:
            for name in listed:
                self._rows.setdefault(name, set()).add(row)
                self._sizes.setdefault(name, size)
        if names:
            self._names[row] = tuple(names)
        self._stale.add(row)

    def forget(self, row: int) -> None:
        """The row has no images any more."""
        for name in self._names.pop(row, ()):
            rows = self._rows.get(name, set())
            rows.discard(row)
            self.seen.get(name, {}).pop(row, None)
            if not rows:
                self._rows.pop(name, None)
                self._sizes.pop(name, None)
                self.seen.pop(name, None)

    def touch(self, row: int) -> None:
        """Something on the row changed: its counts are read again with the next snapshot."""
        if row in self._names:
            self._stale.add(row)

    @property
    def is_stale(self) -> bool:
        """Whether a row has changed since the last snapshot."""
        return bool(self._stale)

    def refresh(self) -> None:
        """Takes the snapshot of the rows that changed."""
        for row in self._stale:
            for name in self._names.get(row, ()):
                self.seen.setdefault(name, {})[row] = (self._sizes[name], len(self._rows[name]))
        self._stale.clear()
