"""Scores from how full nodes are: the arithmetic that NodeResourcesFit and BalancedAllocation share.

Each formula is here twice, for whole columns and for one row in plain integers: after a bind a single row changes, and
NumPy would take longer to start than to compute. A property test holds both to the same result.

Upstream: pkg/scheduler/framework/plugins/noderesources (resource_allocation.go and the strategies).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

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


@dataclass(frozen=True, slots=True)
class Share:
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


def _are_all(values: Ints | NDArray[np.bool_]) -> bool:
    """Whether no value is 0; faster than `values.all()` for some hundred nodes."""
    return int(np.count_nonzero(values)) == len(values)


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


Column = tuple[Ints, Ints, Ints]
"""Requested with the pod, allocated without it, allocatable."""


def columns(
    shares: Sequence[Share], nodes: Nodes, true_requests: bool, devices: ExtendedResources | None
) -> list[Column]:
    """For each resource what a score is made of; all 0 where it does not count on a node."""
    return [_column(share, nodes, true_requests, devices) for share in shares]


def _column(share: Share, nodes: Nodes, true_requests: bool, devices: ExtendedResources | None) -> Column:
    name, size = share.resource, len(nodes)
    if share.is_left_out or not _is_counted(name):
        zeros = np.zeros(size, np.int64)
        return zeros, zeros, zeros
    allocatable = nodes.allocatable(name)
    assume_defaults = name in (CPU, MEMORY) and not true_requests
    allocated = nodes.nonzero_requested(name) if assume_defaults else nodes.requested(name)
    if devices is not None and is_scalar(name) and (allocatable == 0).any():
        totals = devices.totals(nodes, name)
        if totals is not None:
            from_devices = (allocatable == 0) & (totals[0] > 0)
            allocatable = np.where(from_devices, totals[0], allocatable)
            allocated = np.where(from_devices, totals[1], allocated)
    if _are_all(allocatable):
        return allocated + share.request, allocated, allocatable
    counts = allocatable != 0
    allocated = np.where(counts, allocated, 0)
    return np.where(counts, allocated + share.request, 0), allocated, allocatable


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
    """`row_values` prepared for a table; None where a resource has no column. Good until the table's size changes."""
    if any(share.is_left_out for share in shares):
        return None
    parts: list[tuple[memoryview[int], memoryview[int], int]] = []
    for share in shares:
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
        return values

    return read


class Strategy(Protocol):
    """Turns utilisation into a score."""

    name: str
    line: tuple[int, ...]
    """The score for each percent of utilisation, if that is all it depends on."""

    def score(self, shares: Sequence[Share], values: Sequence[Column]) -> Ints: ...

    def score_row(self, shares: Sequence[Share], values: Sequence[tuple[int, int, int]]) -> int: ...


class Weighted:
    """A weighted mean of one score per resource, in whole numbers."""

    line: tuple[int, ...] = ()

    def __init__(self, name: str, one: Callable[[int, int], int], many: Callable[[Ints, Ints], Ints]) -> None:
        self.name = name
        self._one = one
        self._many = many

    def score(self, shares: Sequence[Share], values: Sequence[Column]) -> Ints:
        total = weights = np.zeros(len(values[0][0]), np.int64)
        if all(_are_all(offered) for _, _, offered in values):
            for share, (requested, _, offered) in zip(shares, values, strict=True):
                total = total + self._many(requested, offered) * share.weight
            weight = sum(share.weight for share in shares)
            return total // weight if weight else total
        for share, (requested, _, offered) in zip(shares, values, strict=True):
            counts = offered != 0
            total = total + np.where(counts, self._many(requested, np.where(counts, offered, 1)) * share.weight, 0)
            weights = weights + counts * share.weight
        mean: Ints = np.where(weights != 0, total // np.where(weights != 0, weights, 1), 0)
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
    scores: Ints = np.where(requested > offered, 0, (offered - requested) * MAX_NODE_SCORE // offered)
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

    def score(self, shares: Sequence[Share], values: Sequence[Column]) -> Ints:
        total = weights = np.zeros(len(values[0][0]), np.int64)
        for share, (requested, _, offered) in zip(shares, values, strict=True):
            counts = offered != 0
            percent = np.where(requested > offered, 100, requested * 100 // np.where(counts, offered, 1))
            scores = self._line[percent]
            counts = counts & (scores > 0)
            total = total + np.where(counts, scores * share.weight, 0)
            weights = weights + counts * share.weight
        mean: Ints = np.where(weights != 0, round_half_away(total / np.where(weights != 0, weights, 1)), 0)
        return mean

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

    def score(self, shares: Sequence[Share], values: Sequence[Column]) -> Ints:
        after = _evenness([(requested, offered) for requested, _, offered in values])
        before = _evenness([(allocated, offered) for _, allocated, offered in values])
        half = MAX_NODE_SCORE // 2
        change = half + after - before
        return half + (change + (change < 0)) // 2  # cut off towards zero

    def score_row(self, shares: Sequence[Share], values: Sequence[tuple[int, int, int]]) -> int:
        after, before = [], []
        for requested, allocated, offered in values:
            if offered:
                after.append(requested / offered if requested < offered else 1.0)
                before.append(allocated / offered if allocated < offered else 1.0)
        half = MAX_NODE_SCORE // 2
        return half + int((half + _evenness_row(after) - _evenness_row(before)) / 2)


def _evenness(pairs: Sequence[tuple[Ints, Ints]]) -> Ints:
    """100 minus the standard deviation of the used fractions, in percent."""
    if len(pairs) == 2 and all(_are_all(offered) for _, offered in pairs):
        first, second = (np.minimum(used / offered, 1.0) for used, offered in pairs)
        even: Ints = ((1 - np.abs((first - second) / 2)) * float(MAX_NODE_SCORE)).astype(np.int64)
        return even
    fractions = [np.minimum(used / np.where(offered != 0, offered, 1), 1.0) for used, offered in pairs]
    present = [offered != 0 for _, offered in pairs]
    number = np.sum(present, axis=0)
    if len(pairs) == 2:
        std = np.where(number == 2, np.abs((fractions[0] - fractions[1]) / 2), 0.0)
    else:
        std = _deviation(fractions, present, number)
    evenness: Ints = ((1 - std) * float(MAX_NODE_SCORE)).astype(np.int64)
    return evenness


def _deviation(fractions: Sequence["Floats"], present: Sequence["Masks"], number: Ints) -> "Floats":
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


def strategy_of(document: Document) -> Strategy:
    """The scoring strategy a configuration names."""
    kind = document.get("type") or "LeastAllocated"
    if kind == "RequestedToCapacityRatio":
        return RequestedToCapacityRatio((document.get("requestedToCapacityRatio") or {}).get("shape") or ())
    return MOST_ALLOCATED if kind == "MostAllocated" else LEAST_ALLOCATED
