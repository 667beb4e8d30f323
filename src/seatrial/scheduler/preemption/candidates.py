"""Compares candidate nodes of preemption by their victims.

Upstream: pickOneNodeForPreemption of pkg/scheduler/framework/preemption, MoreImportantPod of pkg/scheduler/util.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.preemption.sort_slice import go_sort

PRIORITY_OFFSET = 1 << 31


@dataclass(frozen=True)
class Victims:
    """The pods to evict from a node, most important first, and how many evictions violate a budget."""

    pods: tuple[PodInfo, ...]
    violations: int = 0

    def rank(self, now: int) -> tuple[int, ...]:
        """Which node is best: fewest violations, lowest top priority, lowest sum of priorities, fewest victims, latest
        start of the victims of top priority; a pod that has not started counts as starting now."""
        *standing, start = self._standing
        return *standing, -(now if start is None else min(start, now) if self._has_unstarted else start)

    @cached_property
    def _highest(self) -> list[PodInfo]:
        highest = max(pod.priority for pod in self.pods)
        return [pod for pod in self.pods if pod.priority == highest]

    @cached_property
    def _has_unstarted(self) -> bool:
        return any(pod.start_time is None for pod in self._highest)

    @cached_property
    def _standing(self) -> tuple[Any, ...]:
        start = min((pod.start_time for pod in self._highest if pod.start_time is not None), default=None)
        total = sum(pod.priority + PRIORITY_OFFSET for pod in self.pods)
        return self.violations, self.pods[0].priority, total, len(self.pods), start


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
    ranks = {name: victims.rank(now) for name, victims in candidates.items()}
    best = min(ranks.values())
    return sorted(name for name, own in ranks.items() if own == best)
