"""Scheduling throughput from the moments at which pods were scheduled.

The seed's rules: the window goes from the first event to the last, and the average is all events over its length.
The percentiles are those of the pods per second, second by second, as ClusterLoader2 measures SchedulingThroughput.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from seatrial.model.errors import SeatrialError

PERCENTILES = (50, 90, 99)
SHORTEST = 0.01
"""Seconds below which a window is too short to be measured: an average is over at least as many."""


class NoSchedulingEvents(SeatrialError):
    """Nothing was scheduled, so there is nothing to measure."""


@dataclass(frozen=True, slots=True)
class Throughput:
    """Pods scheduled per second; `average` is None where all were scheduled at one moment."""

    perc50: float
    perc90: float
    perc99: float
    max: float
    average: float | None
    total: int
    per_second: tuple[tuple[int, int], ...]
    """Seconds from the first event, and how many pods were scheduled in each."""


def measure(moments: Sequence[float]) -> Throughput:
    """The throughput of pods that were scheduled at these moments, in seconds and in any order."""
    if not moments:
        raise NoSchedulingEvents("no pod was scheduled, so there is no throughput to report")
    start, end = min(moments), max(moments)
    counts = [0] * (math.floor(end - start) + 1)
    for moment in moments:
        counts[math.floor(moment - start)] += 1
    ordered = sorted(counts)
    fifty, ninety, ninety_nine = (float(ordered[_rank(share, len(ordered))]) for share in PERCENTILES)
    average = len(moments) / max(end - start, SHORTEST) if end > start else None
    series = tuple(enumerate(counts))
    return Throughput(fifty, ninety, ninety_nine, float(ordered[-1]), average, len(moments), series)


def _rank(share: int, count: int) -> int:
    """The nearest rank of a percentile."""
    return max(math.ceil(count * share / 100), 1) - 1
