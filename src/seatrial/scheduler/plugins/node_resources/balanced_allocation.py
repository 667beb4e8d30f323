"""NodeResourcesBalancedAllocation: prefers nodes whose resources the pod makes more evenly used.

Upstream: pkg/scheduler/framework/plugins/noderesources/balanced_allocation.go (v1.36).
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from seatrial.model.documents import Document
from seatrial.scheduler.cache.node_table import Ints, Nodes, NodeTable
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.cache.pod_requests import is_scalar
from seatrial.scheduler.framework.interface import Handle, Plugin, Reads
from seatrial.scheduler.framework.row_rules import RowScore
from seatrial.scheduler.framework.status import MISSING, SKIP, Status, error
from seatrial.scheduler.plugins.node_resources.arguments import BALANCED_ALLOCATION
from seatrial.scheduler.plugins.node_resources.device_totals import DeviceTotals
from seatrial.scheduler.plugins.node_resources.hints import has_device_resources
from seatrial.scheduler.plugins.node_resources.resource_allocation import (
    BALANCED,
    BALANCED_AFTER,
    DEFAULT_RESOURCES,
    ScoringStrategy,
    Share,
    columns,
    counts_scalars,
    device_kinds,
    row_reader,
    row_shares,
    row_values,
    shares_of,
)


class NodeResourcesBalancedAllocation(Plugin):
    """Uses true requests; a pod without any is not scored."""

    reads = Reads.ROW
    by_state = True
    arguments = BALANCED_ALLOCATION

    def __init__(self, args: Document | None = None, handle: Handle | None = None) -> None:
        super().__init__(args, handle)
        self._resources = tuple(self.args.get("resources") or DEFAULT_RESOURCES)
        self._strategy: ScoringStrategy = BALANCED if self.rules.balances_by_change else BALANCED_AFTER
        self._device_kinds = device_kinds(self._resources)
        self._has_scalars = any(is_scalar(entry["name"]) for entry in self._resources)
        has_devices = self._has_scalars and has_device_resources(handle)
        self._devices = DeviceTotals(handle) if has_devices and handle is not None else None

    def depends_on(self) -> Any:
        version, kinds = self.handle.cluster.version, self._device_kinds
        return version(kinds[0]) if len(kinds) == 1 else tuple(map(version, kinds))

    def pre_score(self, pod: PodInfo, nodes: Nodes) -> Any:
        shares = self._shares(pod)
        return shares if any(share.request for share in shares) else SKIP

    def score(self, pod: PodInfo, nodes: Nodes, state: Any = MISSING) -> Ints | Status:
        shares = self._shares(pod) if state is MISSING else state
        if state is MISSING and not any(share.request for share in shares):
            return np.zeros(len(nodes), np.int64)
        if not shares:
            return error("resources not found")
        return self._strategy.score(shares, columns(shares, nodes, True, self._devices))

    def score_row(self, pod: PodInfo, table: NodeTable, row: int, state: Any) -> int:
        """The score of one row."""
        shares = self._shares(pod) if state is MISSING else state
        if state is MISSING and not any(share.request for share in shares):
            return 0
        if self._has_scalars and counts_scalars(shares):
            return int(np.asarray(self.score(pod, table.take(np.asarray([row], np.intp)), shares))[0])
        return self._strategy.score_row(shares, row_values(shares, table, row, True))

    def score_rows(self, table: NodeTable, state: Any) -> Callable[[int], int] | None:
        """`score_row` prepared for a state."""
        read = None if state is MISSING or counts_scalars(state) else row_reader(state, table, True)
        strategy = self._strategy
        return None if read is None else lambda row: strategy.score_row(state, read(row))

    def row_score(self, state: Any) -> RowScore | None:
        """`score_row` as numbers; None if devices may stand for a resource, or the kernel lacks the formula."""
        if self._strategy is not BALANCED or state is MISSING or (self._devices is not None and counts_scalars(state)):
            return None
        return RowScore(BALANCED.name, row_shares(state, True))

    def _shares(self, pod: PodInfo) -> tuple[Share, ...]:
        return shares_of(pod, self._resources, pod_level=True, assume_defaults=False)
