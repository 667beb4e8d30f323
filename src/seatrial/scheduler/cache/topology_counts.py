"""Pods per topology domain: the table's counts, added up by the value of a label."""

import numpy as np

from seatrial.scheduler.cache.node_table import Ints, Nodes, NodeTable
from seatrial.scheduler.cache.pod_counts import PodCount
from seatrial.scheduler.cache.pod_terms import PodMatcher


def picked_by_domain(table: NodeTable, key: str, matcher: PodMatcher) -> Ints:
    """The pods a matcher picks, by the number of their node's value of a label. The array must not be changed."""
    return by_domain(table, key, table.counts.matching(matcher, False))


def by_domain(table: NodeTable, key: str, count: PodCount) -> Ints:
    """A count, by the number of the nodes' value of a label. The array must not be changed."""
    return count.by_domain(table.label(key), table.version)


def widened(sums: Ints, size: int) -> Ints:
    """A copy with room for at least `size` domains and the place of nodes without the label."""
    wider = np.zeros(max(len(sums), size + 1), np.int64)
    wider[: len(sums) - 1] = sums[:-1]
    return wider


def seen_from(nodes: Nodes, key: str, sums: Ints) -> Ints:
    """The sum of each node's own domain; 0 without the label."""
    return sums.take(nodes.label(key))
