"""Scores from how full nodes are: whole columns and single rows give the same."""

from hypothesis import given, settings
from hypothesis import strategies as st

from seatrial.scheduler.plugins.node_resources.resource_allocation import (
    BALANCED,
    LEAST_ALLOCATED,
    MOST_ALLOCATED,
    RequestedToCapacityRatio,
    Share,
    columns,
    row_values,
)
from tests.scheduler.cluster_builders import SmallCluster, a_node, a_pod

RATIO = RequestedToCapacityRatio(
    [{"utilization": 0, "score": 10}, {"utilization": 70, "score": 3}, {"utilization": 100, "score": 8}]
)
AMOUNTS = st.integers(0, 5000)


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


def test_least_allocated_prefers_the_emptier_node() -> None:
    cluster = SmallCluster(a_node("a"), a_node("b"))
    cluster.bound(a_pod("p", cpu="2"), "a")
    assert cluster.attempt(a_pod("q")).node == "b"
    assert cluster.scores(a_pod("r", cpu="1"), "NodeResourcesFit") == [61, 87]
