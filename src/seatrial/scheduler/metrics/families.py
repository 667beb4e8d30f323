"""Counters, gauges and histograms with labels, in the text format of Prometheus."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

Labels = tuple[str, ...]


def exponential(start: float, factor: float, count: int) -> tuple[float, ...]:
    """The upper bounds of buckets, each a factor above the one before."""
    bounds, bound = [], start
    for _ in range(count):
        bounds.append(bound)
        bound *= factor
    return tuple(bounds)


@dataclass(slots=True)
class Histogram:
    """Observations by upper bound."""

    counts: list[int]
    total: float = 0.0


@dataclass(slots=True)
class Family:
    """One metric with its values by label."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    help: str
    labels: Labels = ()
    buckets: tuple[float, ...] = ()
    values: dict[Labels, float] = field(default_factory=dict)
    histograms: dict[Labels, Histogram] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """A metric without labels is there from the beginning."""
        if not self.labels and self.kind == "histogram":
            self.histograms[()] = Histogram([0] * (len(self.buckets) + 1))
        elif not self.labels:
            self.values[()] = 0

    def inc(self, *labels: str, by: float = 1) -> None:
        self.values[labels] = self.values.get(labels, 0) + by

    def set(self, value: float, *labels: str) -> None:
        self.values[labels] = value

    def observe(self, value: float, *labels: str) -> None:
        found = self.histograms.get(labels)
        if found is None:
            found = self.histograms[labels] = Histogram([0] * (len(self.buckets) + 1))
        found.counts[bisect_left(self.buckets, value)] += 1
        found.total += value

    def lines(self, prefix: str = "") -> Iterator[str]:
        """The metric as text; none where nothing was counted."""
        if not self.values and not self.histograms:
            return
        name = f"{prefix}{self.name}"
        yield f"# HELP {name} {self.help}"
        yield f"# TYPE {name} {self.kind}"
        for labels in sorted(self.values):
            yield f"{name}{self._shown(labels)} {_number(self.values[labels])}"
        for labels in sorted(self.histograms):
            yield from self._histogram_lines(name, labels, self.histograms[labels])

    def _histogram_lines(self, name: str, labels: Labels, histogram: Histogram) -> Iterator[str]:
        reached = 0
        for bound, count in zip((*self.buckets, None), histogram.counts, strict=True):
            reached += count
            shown = "+Inf" if bound is None else _number(bound)
            yield f"{name}_bucket{self._shown(labels, shown)} {reached}"
        yield f"{name}_sum{self._shown(labels)} {_number(histogram.total)}"
        yield f"{name}_count{self._shown(labels)} {reached}"

    def _shown(self, labels: Labels, bound: str = "") -> str:
        """Labels by name, the bound of a bucket last."""
        pairs = sorted(zip(self.labels, labels, strict=True)) + ([("le", bound)] if bound else [])
        shown = ",".join(f'{name}="{_escaped(value)}"' for name, value in pairs)
        return f"{{{shown}}}" if shown else ""


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def _number(value: float) -> str:
    """As Go prints a float: the shortest text that reads back as the same number, with an exponent if it is small."""
    if value == int(value) and abs(value) < 1e21:
        return str(int(value))
    text = repr(float(value))
    return text if "e" not in text else re.sub(r"e([+-])(\d)$", r"e\g<1>0\2", text)
