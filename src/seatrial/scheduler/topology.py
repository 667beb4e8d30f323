"""Counts per topology domain: numbers per node, added up by the value of a label."""

import numpy as np
from numpy.typing import NDArray

from seatrial.scheduler.nodes import Ints, Mask, Nodes, NodeTable


def per_domain(table: NodeTable, key: str, counts: NDArray[np.int32], where: Mask | None = None) -> Ints:
    """The sum of `counts` over the rows of each value of a label, by the value's number.

    There is one place more than there are values: nodes without the label look there, and it is 0.
    """
    column = table.label(key)
    ids = column.ids[: table.size]
    size = len(column.values) + 1
    counted = np.flatnonzero(counts[: table.size] if where is None else counts[: table.size] * where)
    sums: Ints = np.bincount(ids[counted] + 1, counts[counted], size)[: size + 1].astype(np.int64)
    return np.concatenate((sums[1:], [0]))


def domain_of(table: NodeTable, key: str, value: str) -> int:
    """The number of a label's value."""
    return table.label(key).number(value)


def widened(sums: Ints, size: int) -> Ints:
    """A copy with room for at least `size` domains and the place of those without the label."""
    wider = np.zeros(max(len(sums), size + 1), np.int64)
    wider[: len(sums) - 1] = sums[:-1]
    return wider


def seen_from(nodes: Nodes, key: str, sums: Ints) -> Ints:
    """The sum of each node's own domain; 0 without the label."""
    picked: Ints = sums[nodes.label(key)]
    return picked
