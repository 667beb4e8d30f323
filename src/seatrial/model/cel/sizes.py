"""Ranges of sizes, from the least to the most; they stop at the largest unsigned integer, as cel-go's do."""

from math import ceil
from typing import NamedTuple

MOST = (1 << 64) - 1


def saturated(value: int) -> int:
    """A number, at most `MOST`."""
    return min(value, MOST)


def times(value: int, factor: float) -> int:
    """A size or cost by a factor in floating point, rounded up."""
    return saturated(ceil(float(value) * factor))


class Size(NamedTuple):
    """How many characters, items or entries a value may have."""

    least: int
    most: int

    def plus(self, other: "Size") -> "Size":
        return Size(saturated(self.least + other.least), saturated(self.most + other.most))

    def by(self, other: "Size") -> "Size":
        return Size(saturated(self.least * other.least), saturated(self.most * other.most))

    def union(self, other: "Size") -> "Size":
        return Size(min(self.least, other.least), max(self.most, other.most))


UNKNOWN = Size(0, MOST)


def fixed(size: int) -> Size:
    return Size(size, size)
