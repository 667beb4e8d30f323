"""What the nodes have left, as columns: one array for each resource and state, one place for each node.

A change of a row is logged, so that columns derived from these can be kept and only changed rows computed again.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from seatrial.volcano.cache.resource import CPU, MEMORY, MIN_RESOURCE, Resource

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Rows = NDArray[np.intp]
Columns = dict[str, Floats]
Change = tuple[float, float, float, float]
"""By which multiples of a request idle, used, releasing and pipelined change."""


class NodeColumns:
    """Idle, used, releasing, pipelined and future idle amounts of all nodes."""

    def __init__(self, allocatable: Iterable[Resource]) -> None:
        listed = list(allocatable)
        self.size = len(listed)
        names = {CPU: None, MEMORY: None} | {name: None for entry in listed for name in entry.scalars or ()}
        self.allocatable: Columns = {name: np.asarray([entry.get(name) for entry in listed]) for name in names}
        self.idle: Columns = {name: column.copy() for name, column in self.allocatable.items()}
        self.future: Columns = {name: column.copy() for name, column in self.allocatable.items()}
        """Idle once what is being released is free and what is pipelined has come."""
        self.used: Columns = {name: np.zeros(self.size) for name in names}
        self.releasing: Columns = {name: np.zeros(self.size) for name in names}
        self.pipelined: Columns = {name: np.zeros(self.size) for name in names}
        self.log: list[int] = []
        """Rows in the order of their changes."""

    def change(self, row: int, request: Resource, change: Change) -> None:
        """Charges a row with multiples of a request."""
        idle, used, releasing, pipelined = change
        future = idle + releasing - pipelined
        for name, amount in ((CPU, request.cpu), (MEMORY, request.memory), *(request.scalars or {}).items()):
            if name not in self.idle:
                self._add_column(name)
            if idle:
                self.idle[name][row] += idle * amount
            if used:
                self.used[name][row] += used * amount
            if releasing:
                self.releasing[name][row] += releasing * amount
            if pipelined:
                self.pipelined[name][row] += pipelined * amount
            if future:
                self.future[name][row] += future * amount
        self.log.append(row)

    def column(self, columns: Columns, name: str) -> Floats:
        """One resource of a group of columns; nothing where no node has it."""
        found = columns.get(name)
        return np.zeros(self.size) if found is None else found

    def fits(self, request: Resource, columns: Columns, rows: Rows | None = None) -> Mask:
        """The nodes whose amounts cover a request (LessEqual with Zero)."""
        mask: Mask | None = None
        for name, amount in ((CPU, request.cpu), (MEMORY, request.memory), *(request.scalars or {}).items()):
            column = self.column(columns, name)
            enough = amount - (column if rows is None else column[rows]) < MIN_RESOURCE
            mask = enough if mask is None else mask & enough
        assert mask is not None
        return mask

    def covers(self, request: Resource, columns: Columns, row: int) -> bool:
        """Whether the amounts of one node cover a request."""
        if request.cpu - columns[CPU].item(row) >= MIN_RESOURCE:
            return False
        if request.memory - columns[MEMORY].item(row) >= MIN_RESOURCE:
            return False
        for name, amount in (request.scalars or {}).items():
            column = columns.get(name)
            if amount - (0.0 if column is None else column.item(row)) >= MIN_RESOURCE:
                return False
        return True

    def short(self, request: Resource, columns: Columns, row: int) -> list[str]:
        """The resources of which a node has less than requested."""
        return request.exceeding(self.resource(columns, row))

    def resource(self, columns: Columns, row: int) -> Resource:
        """The amounts of one node."""
        scalars = {name: column.item(row) for name, column in columns.items() if name not in (CPU, MEMORY)}
        return Resource(columns[CPU].item(row), columns[MEMORY].item(row), scalars)

    def _add_column(self, name: str) -> None:
        groups = (self.allocatable, self.idle, self.future, self.used, self.releasing, self.pipelined)
        for group in groups:
            group[name] = np.zeros(self.size)
