"""Computes the replicas for a resource metric. Pure.

Upstream: pkg/controller/podautoscaler/replica_calculator.go (v1.36). Metrics are always fresh here, so a pod is unready
when its Ready condition is false, and pods are never missing from the metrics once they run.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

TOLERANCE = 0.1


@dataclass(frozen=True, slots=True)
class Sample:
    """One pod as the autoscaler sees it; amounts in milli-units."""

    used: int
    requested: int | None
    is_ready: bool
    is_ignored: bool = False


@dataclass(frozen=True, slots=True)
class Proposal:
    """The number of replicas, with the values it was computed from."""

    replicas: int
    average: int
    utilization: int | None = None


class NoProposal(Exception):
    """Why a metric gives no number of replicas."""


def by_utilization(current: int, target: int, samples: Sequence[Sample], resource: str) -> Proposal:
    """Replicas so that usage comes to `target` percent of what is requested."""
    ready, unready = _sort(samples)
    if any(sample.requested is None for sample in [*ready, *unready]):
        raise NoProposal(f"missing request for {resource}")
    requested = sum(sample.requested or 0 for sample in ready)
    if requested == 0:
        raise NoProposal("no metrics returned matched known pods")
    used = sum(sample.used for sample in ready)
    utilization = used * 100 // requested
    ratio = utilization / target
    with_unready = used * 100 // (requested + sum(sample.requested or 0 for sample in unready)) / target
    replicas = _replicas(current, ratio, with_unready, len(ready), len(unready))
    return Proposal(replicas, used // len(ready), utilization)


def by_average(current: int, target: int, samples: Sequence[Sample]) -> Proposal:
    """Replicas so that each uses `target` milli-units."""
    ready, unready = _sort(samples)
    used = sum(sample.used for sample in ready)
    average = used // len(ready)
    with_unready = used // (len(ready) + len(unready)) / target
    return Proposal(_replicas(current, average / target, with_unready, len(ready), len(unready)), average)


def _sort(samples: Sequence[Sample]) -> tuple[list[Sample], list[Sample]]:
    if not samples:
        raise NoProposal("no pods returned by selector while calculating replica count")
    counted = [sample for sample in samples if not sample.is_ignored]
    ready = [sample for sample in counted if sample.is_ready]
    if not ready:
        raise NoProposal("did not receive metrics for targeted pods (pods might be unready)")
    return ready, [sample for sample in counted if not sample.is_ready]


def _replicas(current: int, ratio: float, with_unready: float, ready: int, unready: int) -> int:
    """Unready pods damp growth: they count as using nothing."""
    if not unready or ratio <= 1.0:
        return current if _is_close(ratio) else math.ceil(ratio * ready)
    if _is_close(with_unready) or with_unready < 1.0:
        return current
    return max(current, math.ceil(with_unready * (ready + unready)))


def _is_close(ratio: float) -> bool:
    return 1.0 - TOLERANCE <= ratio <= 1.0 + TOLERANCE
