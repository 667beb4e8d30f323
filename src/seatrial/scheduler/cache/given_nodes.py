"""Nodes as an extender gives them back, for scoring.

An extender without a node cache answers with Node objects, and upstream builds a bare NodeInfo of each: without pods
and without images, and whether or not the scheduler has a node of that name. The cluster behind them, whose pods count
for affinity and spreading, is the table.

Upstream: pkg/scheduler/extender.go (Filter), v1.36.3.
"""

from collections.abc import Sequence
from typing import overload

import numpy as np
from numpy.typing import NDArray

from seatrial.scheduler.cache.node_columns import ABSENT
from seatrial.scheduler.cache.node_info import NodeInfo
from seatrial.scheduler.cache.node_table import NO_ROWS, Ids, Ints, Mask, Nodes, NodeTable
from seatrial.scheduler.cache.pod_terms import PodMatcher


class GivenNodes(Nodes):
    """Bare nodes in the order given."""

    has_images = False

    def __init__(self, table: NodeTable, infos: Sequence[NodeInfo]) -> None:
        super().__init__(table, NO_ROWS)
        self.infos = infos
        for node in infos:
            _number_labels(table, node)
            table.taints.number(node.taints)

    def __len__(self) -> int:
        return len(self.infos)

    @overload
    def __getitem__(self, position: int) -> NodeInfo: ...
    @overload
    def __getitem__(self, position: slice) -> Sequence[NodeInfo]: ...
    def __getitem__(self, position: int | slice) -> NodeInfo | Sequence[NodeInfo]:
        return self.infos[position]

    def names(self) -> list[str]:
        return [node.name for node in self.infos]

    def allocatable(self, resource: str) -> Ints:
        return np.asarray([node.allocatable.get(resource, 0) for node in self.infos], np.int64)

    def requested(self, resource: str) -> Ints:
        return np.zeros(len(self.infos), np.int64)

    def nonzero_requested(self, resource: str) -> Ints:
        return np.zeros(len(self.infos), np.int64)

    @property
    def unschedulable(self) -> Mask:
        return np.asarray([node.unschedulable for node in self.infos], np.bool_)

    @property
    def taint_set(self) -> Ids:
        return np.asarray([self.table.taints.number(node.taints) for node in self.infos], np.int32)

    def label(self, key: str) -> Ids:
        column = self.table.label(key)
        ids = [column.find(node.labels[key]) if key in node.labels else ABSENT for node in self.infos]
        return np.asarray(ids, np.int32)

    def matching(self, matcher: PodMatcher, staying_only: bool = False) -> NDArray[np.int32]:
        return np.zeros(len(self.infos), np.int32)


def _number_labels(table: NodeTable, node: NodeInfo) -> None:
    """Gives label values that no node of the table has their numbers; what is derived from the numbers is outdated."""
    for key, value in node.labels.items():
        column = table.label(key)
        if column.find(value) < ABSENT:
            column.number(value)
            table.version += 1
