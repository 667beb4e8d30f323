"""What in-tree plugins compute, as data: an evaluator may then compute it without calling them.

A plugin that describes its answers in this way must give the same ones by `filter` and `score`. A kernel reads these
records; a user's plugin is always called.
"""

from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Sums = NDArray[np.int64]
NO_LIMIT = 1 << 62


class RowFilter(NamedTuple):
    """What must fit on a node besides one more pod: (resource, amount, whether devices may stand in)."""

    wanted: tuple[tuple[str, int, bool], ...]


class RowShare(NamedTuple):
    """One resource of a score: the columns of what nodes offer and what pods ask for, its weight, the pod's request."""

    offered: str
    asked: str
    weight: int
    request: int


class RowScore(NamedTuple):
    """A score from how full a node is; `line` has the score for each percent if the strategy is one."""

    strategy: str
    shares: tuple[RowShare, ...]
    line: tuple[int, ...] = ()


class DomainCheck(NamedTuple):
    """A node passes if the sum of its domain is within bounds; without the label it sees the last place."""

    key: str
    sums: Sums
    lowest: int
    highest: int
    needs_label: bool


class DomainRule(NamedTuple):
    """A `DomainCheck` that stays good while pods come and go: the bound follows from sums that are kept up to date.

    `limit` is "at-most" (`number`), "near" (at least 1, or 0 if all sums of such rules are 0 and `number` is not) or
    "skew" (at most `number` above the lowest of the counted domains, of which there must be so many).
    """

    key: str
    sums: Sums
    limit: str
    number: int
    counted: tuple[NDArray[np.uint8], int] | None = None


DomainScore = tuple[str, Sums]
"""A node scores the sum of its domain of a label."""
DomainTerm = tuple[str, Sums, int]
"""The same with sums that are kept up to date, times a factor."""


class Normalizes(StrEnum):
    """How a plugin normalizes its scores."""

    SHARE = "share"
    """as a share of the highest"""
    REVERSE_SHARE = "reverse-share"
    """the same, with 100 for the lowest"""
    BETWEEN = "between"
    """as a place between the lowest and the highest"""
