"""Compares candidate nodes of preemption by their victims.

Upstream: pickOneNodeForPreemption of pkg/scheduler/framework/preemption, MoreImportantPod of pkg/scheduler/util.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.preemption.sort_slice import go_sort

PRIORITY_OFFSET = 1 << 31
LATEST = (1 << 63) - 1
RANK_COLUMNS = 6


@dataclass(frozen=True, slots=True)
class Victims:
    """The pods to evict from a node, most important first, and how many evictions violate a budget."""

    pods: tuple[PodInfo, ...]
    violations: int = 0

    @property
    def rank(self) -> tuple[int, ...]:
        """What decides which node is best, without the time: violations, top priority, sum of priorities, number of
        victims; of those of top priority the earliest start, and whether one has not started."""
        highest = max(pod.priority for pod in self.pods)
        starts = [pod.start_time for pod in self.pods if pod.priority == highest]
        started = [start for start in starts if start is not None]
        total = sum(pod.priority + PRIORITY_OFFSET for pod in self.pods)
        standing = self.violations, self.pods[0].priority, total, len(self.pods)
        return *standing, min(started, default=LATEST), len(started) < len(starts)


def important_first(pods: Sequence[PodInfo]) -> list[PodInfo]:
    """Higher priority first, then the older, in the order Go's sort leaves them in."""
    ranked = list(pods)
    go_sort(ranked, _is_more_important)
    return ranked


def _is_more_important(pod: PodInfo, other: PodInfo) -> bool:
    """A pod that has not started counts as starting when it is asked about: of two such, the one asked about first."""
    if pod.priority != other.priority:
        return pod.priority > other.priority
    if pod.start_time is None:
        return other.start_time is None
    return other.start_time is None or pod.start_time < other.start_time


def best_candidates(candidates: Mapping[str, Victims], now: int) -> list[str]:
    """The nodes that tie after all criteria, by name."""
    names = list(candidates)
    ranks = np.array([victims.rank for victims in candidates.values()], np.int64)
    return sorted(names[place] for place in best_places(ranks, now).tolist())


def best_places(ranks: NDArray[np.int64], now: int) -> NDArray[np.intp]:
    """The places of the ranks that tie after all criteria: the fewest violations, the lowest top priority, the lowest
    sum of priorities, the fewest victims, the latest start; a pod that has not started counts as starting now."""
    left = np.arange(len(ranks))
    for column in range(RANK_COLUMNS - 2):
        values = ranks[left, column]
        left = left[values == values.min()]
    start, has_unstarted = ranks[left, -2], ranks[left, -1] != 0
    starts = np.where(has_unstarted, np.minimum(start, now), start)
    best: NDArray[np.intp] = left[starts == starts.max()]
    return best
