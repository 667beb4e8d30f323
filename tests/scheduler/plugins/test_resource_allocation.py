"""Scores from how full nodes are: whole columns and single rows give the same."""

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seatrial.scheduler.cache.node_table import NodeTable
from seatrial.scheduler.cache.pod_info import PodReader
from seatrial.scheduler.cache.pod_requests import amount_of, request_list
from seatrial.scheduler.plugins.node_resources.resource_allocation import (
    BALANCED,
    LEAST_ALLOCATED,
    MOST_ALLOCATED,
    RequestedToCapacityRatio,
    ScoringStrategy,
    Share,
    columns,
    row_shares,
    row_values,
    shares_of,
)
from tests.scheduler.cluster_builders import SmallCluster, a_node, a_pod
from tests.scheduler.evaluator.kernels import is_installed

RATIO = RequestedToCapacityRatio(
    [{"utilization": 0, "score": 10}, {"utilization": 70, "score": 3}, {"utilization": 100, "score": 8}]
)
AMOUNTS = st.integers(0, 5000)


def by_kernel(strategy: ScoringStrategy, shares: list[Share], table: NodeTable, true_requests: bool) -> list[int]:
    """The scores of all rows as the compiled kernel updates them."""
    from seatrial_kernel import ShapeRows

    raw = np.zeros(table.size, np.int64)
    rows = ShapeRows(np.arange(table.size), np.zeros(table.size, np.uint8), raw.copy(), [], [(raw, 1)])
    read = [
        (table.allocatable_column(one.offered), table.requested_column(one.asked), one.weight, one.request)
        for one in row_shares(shares, true_requests)
    ]
    rows.add_score((raw, strategy.name, strategy.line, read))
    rows.update([2 * row for row in range(table.size)])
    scores: list[int] = raw.tolist()
    return scores


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 4000), AMOUNTS, AMOUNTS, AMOUNTS), min_size=1, max_size=6),
    st.tuples(AMOUNTS, AMOUNTS, AMOUNTS),
    st.tuples(st.integers(1, 5), st.integers(1, 5), st.integers(1, 5)),
)
def test_rows_score_as_columns_do(
    nodes: list[tuple[int, int, int, int]], asked: tuple[int, int, int], weights: tuple[int, int, int]
) -> None:
    cluster = SmallCluster()
    from seatrial.scheduler.cache.node_info import NodeInfo

    for number, (cpu, memory, storage, used) in enumerate(nodes):
        document = a_node(f"n{number}", cpu=f"{cpu}m", memory=str(memory))
        document["status"]["allocatable"]["ephemeral-storage"] = str(storage)
        cluster.table.add_node(NodeInfo.read(document))
        cluster.bound(a_pod(f"p{number}", cpu=f"{used}m"), f"n{number}")
    names = ("cpu", "memory", "ephemeral-storage")
    for count in (1, 2, 3):
        shares = [Share(n, w, a) for n, w, a in zip(names[:count], weights, asked, strict=False)]
        for strategy in (LEAST_ALLOCATED, MOST_ALLOCATED, RATIO, BALANCED):
            for true_requests in (False, True):
                whole = strategy.score(shares, columns(shares, cluster.table.all(), true_requests, None)).tolist()
                single = [
                    strategy.score_row(shares, row_values(shares, cluster.table, row, true_requests))
                    for row in range(len(nodes))
                ]
                assert single == whole
                if is_installed():
                    assert by_kernel(strategy, shares, cluster.table, true_requests) == whole


def test_least_allocated_prefers_the_emptier_node() -> None:
    cluster = SmallCluster(a_node("a"), a_node("b"))
    cluster.bound(a_pod("p", cpu="2"), "a")
    assert cluster.attempt(a_pod("q")).node == "b"
    assert cluster.scores(a_pod("r", cpu="1"), "NodeResourcesFit") == [61, 87]


def amounts(dice: random.Random) -> dict[str, str]:
    """Requests for some resources."""
    texts = {
        "cpu": "250m",
        "memory": "64Mi",
        "ephemeral-storage": "1Gi",
        "example.com/gpu": "2",
        "hugepages-2Mi": "4Mi",
    }
    return {name: text for name, text in texts.items() if dice.random() < 0.5}


@pytest.mark.parametrize("seed", range(40))
def test_the_shares_of_a_pod_are_what_its_spec_asks_for(seed: int) -> None:
    """Also for pods with requests of their own, overhead or init containers, and for resources that are not counted."""
    dice = random.Random(seed)
    spec: dict[str, Any] = {
        part: [{"name": f"{part}{n}", "resources": {"requests": amounts(dice)}} for n in range(dice.randint(1, 3))]
        for part in ("containers", "initContainers")
    }
    if dice.random() < 0.5:
        spec["resources"] = {"requests": {k: v for k, v in amounts(dice).items() if k in ("cpu", "memory")}}
    if dice.random() < 0.5:
        spec["overhead"] = {"cpu": "10m"}
    names = ["cpu", "memory", "ephemeral-storage", "example.com/gpu", *(["pods"] if dice.random() < 0.3 else [])]
    pod = PodReader().read({"metadata": {"name": "p", "namespace": "default", "uid": "u"}, "spec": spec})
    for pod_level, assume_defaults in ((True, False), (False, True)):
        listed = request_list(spec, pod_level=pod_level, assume_defaults=assume_defaults)
        found = shares_of(pod, [{"name": name} for name in names], pod_level=pod_level, assume_defaults=assume_defaults)
        assert [share.request for share in found] == [amount_of(listed, name) for name in names]
