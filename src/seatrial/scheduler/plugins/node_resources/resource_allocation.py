"""Scores from how full nodes are: the arithmetic that NodeResourcesFit and BalancedAllocation share.

Each formula is here twice, for whole columns and for one row in plain integers: after a bind a single row changes, and
NumPy would take longer to start than to compute. A property test holds both to the same result.

Upstream: pkg/scheduler/framework/plugins/noderesources (resource_allocation.go and the strategies).
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from msgspec import Struct

from seatrial.model.documents import Document
from seatrial.scheduler.cache.node_table import NONZERO_CPU, NONZERO_MEMORY, Ints, Nodes, NodeTable
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.cache.pod_requests import (
    CPU,
    EPHEMERAL,
    MEMORY,
    Requests,
    amount_of,
    is_extended,
    is_scalar,
    request_list,
)
from seatrial.scheduler.framework.interface import MAX_NODE_SCORE
from seatrial.scheduler.framework.row_rules import RowShare

MAX_CUSTOM_SCORE = 10


class Share(Struct, frozen=True):
    """One resource of a score: what the pod asks for, and whether its absence in the pod leaves the resource out."""

    resource: str
    weight: int
    request: int

    @property
    def is_left_out(self) -> bool:
        return self.request == 0 and is_scalar(self.resource)


def shares_of(
    pod: PodInfo, resources: Sequence[Document], *, pod_level: bool, assume_defaults: bool
) -> tuple[Share, ...]:
    """What a pod asks for of the resources of a score, with or without pod-level requests and the non-zero defaults.

    The requests of its shape say the same, but for pods and resources that are handled in another way there.
    """
    asked, spec = pod.shape.requests, pod.shape.spec
    names = [entry["name"] for entry in resources]
    if all(map(_is_counted, names)) and (not spec.get("resources") or (pod_level and not assume_defaults)):
        amounts = [_amount(asked, name, assume_defaults) for name in names]
    else:
        listed = request_list(spec, pod_level=pod_level, assume_defaults=assume_defaults)
        amounts = [amount_of(listed, name) for name in names]
    shares = zip(names, resources, amounts, strict=True)
    return tuple([Share(name, entry.get("weight") or 1, amount) for name, entry, amount in shares])


def _amount(asked: Requests, resource: str, assume_defaults: bool) -> int:
    if assume_defaults and resource == CPU:
        return asked.nonzero_cpu
    if assume_defaults and resource == MEMORY:
        return asked.nonzero_memory
    return asked.of(resource)


def _is_counted(resource: str) -> bool:
    return resource in (CPU, MEMORY, EPHEMERAL) or is_scalar(resource)


class ExtendedResources(Protocol):
    """Capacity of extended resources that devices provide instead of the node."""

    def totals(self, nodes: Nodes, resource: str) -> tuple[Ints, Ints] | None:
        """Allocatable and allocated devices per node, None where no device class stands for the resource."""
        ...


def device_kinds(resources: Sequence[Document]) -> tuple[str, ...]:
    """The kinds that scores depend on apart from the rows: devices, but only where an extended resource is scored."""
    if any(is_extended(entry["name"]) for entry in resources):
        return "DeviceClass", "ResourceClaim", "ResourceSlice"
    return ("DeviceClass",)


class Columns(NamedTuple):
    """What a score is made of: arrays with one row for each resource."""

    requested: Ints
    """with the pod"""
    allocated: Ints
    """without it"""
    offered: Ints
    is_everywhere: bool
    """whether every node offers some of each resource"""


def columns(shares: Sequence[Share], nodes: Nodes, true_requests: bool, devices: ExtendedResources | None) -> Columns:
    """For each resource what a score is made of; all 0 where it does not count on a node."""
    pairs = [_amounts(share, nodes, true_requests, devices) for share in shares]
    allocated = np.array([used for used, _ in pairs])
    offered = np.array([there for _, there in pairs])
    requested = allocated + np.array([[share.request] for share in shares])
    if np.count_nonzero(offered) == offered.size:
        return Columns(requested, allocated, offered, True)
    counts = offered != 0
    return Columns(np.where(counts, requested, 0), np.where(counts, allocated, 0), offered, False)


def _amounts(share: Share, nodes: Nodes, true_requests: bool, devices: ExtendedResources | None) -> tuple[Ints, Ints]:
    """What pods without this one are counted with, and what nodes offer."""
    name = share.resource
    if name in _CHARGED:
        return nodes.requested(name) if true_requests else nodes.nonzero_requested(name), nodes.allocatable(name)
    if share.is_left_out or not _is_counted(name):
        zeros = np.zeros(len(nodes), np.int64)
        return zeros, zeros
    allocated, offered = nodes.requested(name), nodes.allocatable(name)
    if devices is not None and is_scalar(name) and (offered == 0).any():
        totals = devices.totals(nodes, name)
        if totals is not None:
            from_devices = (offered == 0) & (totals[0] > 0)
            offered = np.where(from_devices, totals[0], offered)
            allocated = np.where(from_devices, totals[1], allocated)
    return allocated, offered


def counts_scalars(shares: Sequence[Share]) -> bool:
    """Whether the score depends on a scalar resource, which devices may provide in place of the node."""
    return any(is_scalar(share.resource) and not share.is_left_out for share in shares)


_CHARGED = {CPU: NONZERO_CPU, MEMORY: NONZERO_MEMORY}
"""What stands for a resource where pods without requests count too."""


def row_values(shares: Sequence[Share], table: NodeTable, row: int, true_requests: bool) -> list[tuple[int, int, int]]:
    """The same three numbers for one row."""
    values: list[tuple[int, int, int]] = []
    for share in shares:
        name = share.resource
        asked = name if true_requests else _CHARGED.get(name, name)
        offered, used = (0, 0) if share.is_left_out else table.amounts_of_row(row, name, asked)
        values.append((used + share.request, used, offered) if offered else (0, 0, 0))
    return values


def row_shares(shares: Sequence[Share], true_requests: bool) -> tuple[RowShare, ...]:
    """The columns from which `row_values` reads; resources that are left out have none."""
    return tuple(
        RowShare(name, name if true_requests else _CHARGED.get(name, name), share.weight, share.request)
        for share in shares
        if not share.is_left_out and ((name := share.resource) in (CPU, MEMORY, EPHEMERAL) or is_scalar(name))
    )


def row_reader(
    shares: Sequence[Share], table: NodeTable, true_requests: bool
) -> Callable[[int], list[tuple[int, int, int]]] | None:
    """`row_values` prepared for a table; None where a resource has no column. Good until the table's size changes.

    What is left out comes last, and only if it is last in the shares.
    """
    counted = [share for share in shares if not share.is_left_out]
    if tuple(shares[: len(counted)]) != tuple(counted):
        return None
    left_out = [(0, 0, 0)] * (len(shares) - len(counted))
    parts: list[tuple[memoryview[int], memoryview[int], int]] = []
    for share in counted:
        name = share.resource
        cells = table.cells(name, name if true_requests else _CHARGED.get(name, name))
        if cells is None:
            return None
        parts.append((*cells, share.request))

    def read(row: int) -> list[tuple[int, int, int]]:
        values = []
        for offers, uses, request in parts:
            offered, used = offers[row], uses[row]
            values.append((used + request, used, offered) if offered else (0, 0, 0))
        return values + left_out

    return read


class ScoringStrategy(Protocol):
    """Turns utilisation into a score."""

    name: str
    line: tuple[int, ...]
    """The score for each percent of utilisation, if that is all it depends on."""

    def score(self, shares: Sequence[Share], values: Columns) -> Ints: ...

    def score_row(self, shares: Sequence[Share], values: Sequence[tuple[int, int, int]]) -> int: ...


def _weighted(shares: Sequence[Share], scores: Ints) -> Ints:
    """The sum over the resources, each times its weight."""
    total = np.zeros(scores.shape[1], np.int64)
    for share, row in zip(shares, scores, strict=True):
        total += row if share.weight == 1 else row * share.weight
    return total


class Weighted:
    """A weighted mean of one score per resource, in whole numbers."""

    line: tuple[int, ...] = ()

    def __init__(self, name: str, one: Callable[[int, int], int], many: Callable[[Ints, Ints], Ints]) -> None:
        self.name = name
        self._one = one
        self._many = many

    def score(self, shares: Sequence[Share], values: Columns) -> Ints:
        if values.is_everywhere:
            total = _weighted(shares, self._many(values.requested, values.offered))
            return total // sum([share.weight for share in shares])
        counts = values.offered != 0
        total = _weighted(shares, self._many(values.requested, np.where(counts, values.offered, 1)) * counts)
        mean: Ints = total // np.maximum(_weighted(shares, counts.astype(np.int64)), 1)
        return mean

    def score_row(self, shares: Sequence[Share], values: Sequence[tuple[int, int, int]]) -> int:
        total = weights = 0
        for share, (requested, _, offered) in zip(shares, values, strict=True):
            if offered:
                total += self._one(requested, offered) * share.weight
                weights += share.weight
        return total // weights if weights else 0


def _least(requested: int, offered: int) -> int:
    return 0 if requested > offered else (offered - requested) * MAX_NODE_SCORE // offered


def _least_many(requested: Ints, offered: Ints) -> Ints:
    scores: Ints = np.maximum(offered - requested, 0)
    scores *= MAX_NODE_SCORE
    scores //= offered
    return scores


def _most(requested: int, offered: int) -> int:
    return min(requested, offered) * MAX_NODE_SCORE // offered


def _most_many(requested: Ints, offered: Ints) -> Ints:
    scores: Ints = np.minimum(requested, offered) * MAX_NODE_SCORE // offered
    return scores


class RequestedToCapacityRatio:
    """A broken line over utilisation in percent; resources that score 0 do not count, the mean is rounded."""

    name = "ratio"

    def __init__(self, shape: Sequence[Document]) -> None:
        points = [(p.get("utilization", 0), p.get("score", 0) * (MAX_NODE_SCORE // MAX_CUSTOM_SCORE)) for p in shape]
        self.line = tuple(_on_line(points, percent) for percent in range(101))
        self._line = np.asarray(self.line, np.int64)

    def score(self, shares: Sequence[Share], values: Columns) -> Ints:
        requested, offered = values.requested, values.offered
        percent = np.where(requested > offered, 100, requested * 100 // np.where(offered != 0, offered, 1))
        scores = self._line[percent]
        counts = (offered != 0) & (scores > 0)
        weights = _weighted(shares, counts.astype(np.int64))
        return round_half_away(_weighted(shares, scores * counts) / np.maximum(weights, 1))

    def score_row(self, shares: Sequence[Share], values: Sequence[tuple[int, int, int]]) -> int:
        total = weights = 0
        for share, (requested, _, offered) in zip(shares, values, strict=True):
            if offered:
                value = int(self._line[100 if requested > offered else requested * 100 // offered])
                if value > 0:
                    total += value * share.weight
                    weights += share.weight
        return int(round_half_away(np.asarray([total / weights]))[0]) if weights else 0


def _on_line(points: Sequence[tuple[int, int]], percent: int) -> int:
    for index, (utilization, value) in enumerate(points):
        if percent <= utilization:
            if index == 0:
                return value
            before, low = points[index - 1]
            rise = (value - low) * (percent - before)
            return low + (abs(rise) // (utilization - before)) * (1 if rise >= 0 else -1)
    return points[-1][1] if points else 0


def round_half_away(values: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]") -> Ints:
    """Rounds to the nearest whole number, halves away from zero, as Go's math.Round does."""
    whole = np.trunc(values)
    away: Ints = (whole + np.where(np.abs(values - whole) >= 0.5, np.sign(values), 0.0)).astype(np.int64)
    return away


class Balanced:
    """How much more evenly used the node would be with the pod: 75 is no change."""

    name = "balanced"
    line: tuple[int, ...] = ()

    def score(self, shares: Sequence[Share], values: Columns) -> Ints:
        if len(shares) == 2 and values.is_everywhere:
            after, before = _evenness_of_two(values)
        else:
            after = _evenness(values.requested, values.offered)
            before = _evenness(values.allocated, values.offered)
        half = MAX_NODE_SCORE // 2
        change = after - before
        change += half
        score: Ints = (change * 0.5).astype(np.int64) + half  # cut off towards zero
        return score

    def score_row(self, shares: Sequence[Share], values: Sequence[tuple[int, int, int]]) -> int:
        after, before = [], []
        for requested, allocated, offered in values:
            if offered:
                after.append(requested / offered if requested < offered else 1.0)
                before.append(allocated / offered if allocated < offered else 1.0)
        half = MAX_NODE_SCORE // 2
        return half + int((half + _evenness_row(after) - _evenness_row(before)) / 2)


class BalancedAfter:
    """How evenly used the node would be with the pod, whatever it was before."""

    name = "balanced-after"
    line: tuple[int, ...] = ()

    def score(self, shares: Sequence[Share], values: Columns) -> Ints:
        return _evenness(values.requested, values.offered)

    def score_row(self, shares: Sequence[Share], values: Sequence[tuple[int, int, int]]) -> int:
        return _evenness_row([min(requested / offered, 1.0) for requested, _, offered in values if offered])


def _evenness_of_two(values: Columns) -> "Floats":
    """The evenness of two resources that every node offers: with the pod, and without it."""
    used = np.empty((2, *values.offered.shape))
    np.divide(values.requested, values.offered, out=used[0])
    np.divide(values.allocated, values.offered, out=used[1])
    np.minimum(used, 1.0, out=used)
    std = used[:, 0] - used[:, 1]
    std *= 0.5
    np.abs(std, out=std)
    np.subtract(1, std, out=std)
    std *= float(MAX_NODE_SCORE)
    evenness: Floats = np.trunc(std, out=std)
    return evenness


def _evenness(used: Ints, offered: Ints) -> Ints:
    """100 minus the standard deviation of the used fractions, in percent."""
    present = offered != 0
    fractions = np.minimum(used / np.where(present, offered, 1), 1.0)
    number = np.sum(present, axis=0)
    if len(used) == 2:
        std = np.where(number == 2, np.abs((fractions[0] - fractions[1]) / 2), 0.0)
    else:
        std = _deviation(fractions, present, number)
    evenness: Ints = ((1 - std) * float(MAX_NODE_SCORE)).astype(np.int64)
    return evenness


def _deviation(fractions: "Floats", present: "Masks", number: Ints) -> "Floats":
    """The standard deviation over the resources a node has; of two it is half their difference."""
    total = np.zeros(len(number))
    first = second = np.zeros(len(number))
    seen = np.zeros(len(number), np.int64)
    for fraction, there in zip(fractions, present, strict=True):
        total = total + np.where(there, fraction, 0.0)
        first = np.where(there & (seen == 0), fraction, first)
        second = np.where(there & (seen == 1), fraction, second)
        seen = seen + there
    mean = total / np.where(number > 0, number, 1)
    squares = np.zeros(len(number))
    for fraction, there in zip(fractions, present, strict=True):
        squares = squares + np.where(there, (fraction - mean) * (fraction - mean), 0.0)
    spread = np.sqrt(squares / np.where(number > 0, number, 1))
    return np.where(number > 2, spread, np.where(number == 2, np.abs((first - second) / 2), 0.0))


def _evenness_row(fractions: Sequence[float]) -> int:
    std = 0.0
    if len(fractions) == 2:
        std = abs((fractions[0] - fractions[1]) / 2)
    elif len(fractions) > 2:
        total = squares = 0.0
        for fraction in fractions:
            total += fraction
        mean = total / len(fractions)
        for fraction in fractions:
            squares = squares + (fraction - mean) * (fraction - mean)
        std = math.sqrt(squares / len(fractions))
    return int((1 - std) * float(MAX_NODE_SCORE))


Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Masks = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]

DEFAULT_RESOURCES: tuple[Document, ...] = ({"name": CPU, "weight": 1}, {"name": MEMORY, "weight": 1})
LEAST_ALLOCATED = Weighted("least", _least, _least_many)
MOST_ALLOCATED = Weighted("most", _most, _most_many)
BALANCED = Balanced()
BALANCED_AFTER = BalancedAfter()


def strategy_of(document: Document) -> ScoringStrategy:
    """The scoring strategy a configuration names."""
    kind = document.get("type") or "LeastAllocated"
    if kind == "RequestedToCapacityRatio":
        return RequestedToCapacityRatio((document.get("requestedToCapacityRatio") or {}).get("shape") or ())
    return MOST_ALLOCATED if kind == "MostAllocated" else LEAST_ALLOCATED
