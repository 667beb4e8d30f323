"""NodeResourcesFit: the node must have what the pod asks for; how full it is decides the score.

Upstream: pkg/scheduler/framework/plugins/noderesources/fit.go (v1.36).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.model.documents import Document
from seatrial.scheduler.cache.node_table import Ints, Nodes, NodeTable
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.cache.pod_requests import (
    CPU,
    EPHEMERAL,
    MEMORY,
    PODS,
    is_extended,
    is_scalar,
)
from seatrial.scheduler.framework.interface import Handle, Plugin, Reads, Requeue
from seatrial.scheduler.framework.row_rules import RowFilter, RowScore
from seatrial.scheduler.framework.status import MISSING, Code, NumberedStatuses, Status, Verdicts, error
from seatrial.scheduler.plugins.node_resources.arguments import FIT
from seatrial.scheduler.plugins.node_resources.device_totals import DeviceTotals
from seatrial.scheduler.plugins.node_resources.hints import GATE, HINTS, has_device_resources, is_by_devices
from seatrial.scheduler.plugins.node_resources.resource_allocation import (
    DEFAULT_RESOURCES,
    Share,
    columns,
    counts_scalars,
    device_kinds,
    row_reader,
    row_shares,
    row_values,
    shares_of,
    strategy_of,
)

MOST_AS_BITS = 15
"""Up to this number of resources (31) the bits of a verdict are its code. Verdicts on more resources are numbered."""
FEW_NODES = 4
"""Up to how many imagined nodes are judged one by one."""
MANY_PODS = "Too many pods"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What must fit: (resource, amount, whether devices may stand in), in the order reasons are given."""

    resources: tuple[tuple[str, int, bool], ...]

    @property
    def is_few(self) -> bool:
        """Whether the bits of a verdict fit into its code."""
        return len(self.resources) <= MOST_AS_BITS

    def status(self, bits: int) -> Status:
        """A verdict in words: bit 0 is the number of pods, then two bits a resource: short, and never enough."""
        reasons = [MANY_PODS] if bits & 1 else []
        hopeless = False
        for index, (name, _, _) in enumerate(self.resources):
            short = bits >> (1 + 2 * index)
            if short & 1:
                reasons.append(f"Insufficient {name}")
                hopeless |= bool(short & 2)
        return Status(Code.UNRESOLVABLE if hopeless else Code.UNSCHEDULABLE, tuple(reasons))


class NodeResourcesFit(Plugin):
    """Compares requests with what is left, column by column."""

    reads = Reads.ROW
    pre_filters_by_shape = True
    by_state = True
    arguments = FIT
    requeues = HINTS

    def __init__(self, args: Document | None = None, handle: Handle | None = None) -> None:
        super().__init__(args, handle)
        self._ignored = frozenset(self.args.get("ignoredResources") or ())
        self._ignored_groups = frozenset(self.args.get("ignoredResourceGroups") or ())
        strategy = self.args.get("scoringStrategy") or {}
        self._resources = tuple(strategy.get("resources") or DEFAULT_RESOURCES)
        self._strategy = strategy_of(strategy)
        self._device_kinds = device_kinds(self._resources)
        self._has_scalars = any(is_scalar(entry["name"]) for entry in self._resources)
        has_devices = self._has_scalars and has_device_resources(handle)
        self._devices = DeviceTotals(handle) if has_devices and handle is not None else None
        self._statuses = NumberedStatuses()
        """The verdicts on pods with many resources; equal states must number them in the same way."""

    def events(self, gates: Mapping[str, bool]) -> tuple[Requeue, ...]:
        """Without devices that stand for extended resources their classes are of no interest."""
        found = super().events(gates)
        return found if gates.get(GATE, True) else tuple(e for e in found if e.resource != "DeviceClass")

    def depends_on(self) -> Any:
        version, kinds = self.handle.cluster.version, self._device_kinds
        return version(kinds[0]) if len(kinds) == 1 else tuple(map(version, kinds))

    def pre_filter(self, pod: PodInfo, nodes: Nodes) -> Wanted:
        known, version = pod.shape.notes.get(self), self.handle.cluster.version("DeviceClass")
        if known is None or known[0] != version:
            known = pod.shape.notes[self] = (version, self._wanted(pod))
        wanted: Wanted = known[1]
        return wanted

    def filter(self, pod: PodInfo, nodes: Nodes, state: Any = MISSING) -> Verdicts:
        if state is MISSING:
            return Verdicts.failed(nodes, 'error reading "PreFilterNodeResourcesFit" from cycleState: not found')
        if nodes.is_imagined and state.is_few and len(nodes) <= FEW_NODES:
            codes = [_bits(state, partial(_imagined_amounts, nodes, place)) for place in range(len(nodes))]
            return Verdicts(np.array(codes, np.int32), state.status)
        full = nodes.requested(PODS) >= nodes.allocatable(PODS)
        bits: NDArray[Any] = full.astype(np.int32 if state.is_few else np.object_)
        for index, (name, amount, by_devices) in enumerate(state.resources):
            offered = nodes.allocatable(name)
            short = amount > offered - nodes.requested(name)
            if by_devices:
                short &= offered > 0
            if np.count_nonzero(short):
                bits |= (short * (1 + 2 * (amount > offered))).astype(bits.dtype) << (1 + 2 * index)
        return Verdicts(bits, state.status) if state.is_few else self._numbered(state, bits.tolist())

    def filter_row(self, pod: PodInfo, table: NodeTable, row: int, state: Any) -> int:
        """The verdict on one row."""
        bits = _bits(state, lambda name: table.amounts_of_row(row, name, name))
        return bits if state.is_few else self._number(state, bits)

    def filter_rows(self, table: NodeTable, state: Any) -> Callable[[int], int] | None:
        """`filter_row` prepared for a state; None if its verdicts are numbered."""
        if not state.is_few:
            return None
        pods = table.cells(PODS, PODS)
        wanted = [(table.cells(name, name), amount) for name, amount, _ in state.resources]
        if pods is None or any(cells is None for cells, _ in wanted) or any(by for _, _, by in state.resources):
            return None
        places, taken = pods
        parts = [(1 + 2 * n, *cells, amount) for n, (cells, amount) in enumerate(wanted) if cells is not None]

        def judge(row: int) -> int:
            bits = int(taken[row] + 1 > places[row])
            for shift, offers, uses, amount in parts:
                offered = offers[row]
                if amount > offered - uses[row]:
                    bits |= (1 + 2 * (amount > offered)) << shift
            return bits

        return judge

    def row_filter(self, state: Any) -> RowFilter | None:
        """`filter_row` as data; None if its verdicts are numbered."""
        return RowFilter(state.resources) if state.is_few else None

    def row_score(self, state: Any) -> RowScore | None:
        """`score_row` as numbers; None if devices may stand for a resource."""
        if state is MISSING or (self._devices is not None and counts_scalars(state)):
            return None
        return RowScore(self._strategy.name, row_shares(state, False), self._strategy.line)

    def pre_score(self, pod: PodInfo, nodes: Nodes) -> tuple[Share, ...]:
        return shares_of(pod, self._resources, pod_level=False, assume_defaults=True)

    def score(self, pod: PodInfo, nodes: Nodes, state: Any = MISSING) -> Ints | Status:
        shares = self.pre_score(pod, nodes) if state is MISSING else state
        if not shares:
            return error("resources not found")
        return self._strategy.score(shares, columns(shares, nodes, False, self._devices))

    def score_row(self, pod: PodInfo, table: NodeTable, row: int, state: Any) -> int:
        """The score of one row."""
        shares = self.pre_score(pod, table.all()) if state is MISSING else state
        if self._has_scalars and counts_scalars(shares):
            return int(np.asarray(self.score(pod, table.take(np.asarray([row], np.intp)), shares))[0])
        return self._strategy.score_row(shares, row_values(shares, table, row, False))

    def score_rows(self, table: NodeTable, state: Any) -> Callable[[int], int] | None:
        """`score_row` prepared for a state."""
        read = None if state is MISSING or counts_scalars(state) else row_reader(state, table, False)
        strategy = self._strategy
        return None if read is None else lambda row: strategy.score_row(state, read(row))

    def _wanted(self, pod: PodInfo) -> Wanted:
        asked = pod.shape.requests
        basic = ((CPU, asked.cpu), (MEMORY, asked.memory), (EPHEMERAL, asked.ephemeral))
        resources = [(name, amount, False) for name, amount in basic if amount > 0]
        for name, amount in asked.scalars.items():
            if amount and not self._is_ignored(name):
                resources.append((name, amount, is_by_devices(self.handle, name)))
        return Wanted(tuple(resources))

    def _is_ignored(self, name: str) -> bool:
        if not is_extended(name):
            return False
        return name in self._ignored or (bool(self._ignored_groups) and name.split("/")[0] in self._ignored_groups)

    def _numbered(self, wanted: Wanted, bits: list[int]) -> Verdicts:
        """Verdicts of any number of bits."""
        numbers = {distinct: self._number(wanted, distinct) for distinct in dict.fromkeys(bits)}
        return Verdicts(np.asarray([numbers[each] for each in bits], np.int32), self._statuses.meaning)

    def _number(self, wanted: Wanted, bits: int) -> int:
        return self._statuses.number(wanted.status(bits)) if bits else 0


def _bits(wanted: Wanted, amounts: Callable[[str], tuple[int, int]]) -> int:
    """The verdict on one node, of which `amounts` tells what it offers of a resource and what of that is used."""
    offered, used = amounts(PODS)
    bits = int(used + 1 > offered)
    for index, (name, amount, by_devices) in enumerate(wanted.resources):
        offered, used = amounts(name)
        if amount > offered - used and not (by_devices and offered == 0):
            bits |= (1 + 2 * (amount > offered)) << (1 + 2 * index)
    return bits


def _imagined_amounts(nodes: Nodes, place: int, resource: str) -> tuple[int, int]:
    """What one node of a view offers of a resource, and what its pods would ask for."""
    offered, used = nodes.table.amounts_of_row(int(nodes.rows[place]), resource, resource)
    for imagined, sign in ((nodes.added, 1), (nodes.removed, -1)):
        for pod in imagined.get(place, ()):
            used += sign * (1 if resource == PODS else pod.requests.of(resource))
    return offered, used
