"""The node table: order, pods without a node, imagined rows, incremental counts."""

import numpy as np

from seatrial.scheduler.cache.label_selectors import Selector
from seatrial.scheduler.cache.node_info import NodeInfo
from seatrial.scheduler.cache.pod_terms import PodMatcher
from tests.scheduler.cluster_builders import SmallCluster, a_node, a_pod

ZONE = "topology.kubernetes.io/zone"


def in_zone(name: str, zone: str) -> NodeInfo:
    document = a_node(name)
    document["metadata"]["labels"][ZONE] = zone
    return NodeInfo.read(document)


def test_nodes_are_searched_one_of_each_zone_in_turn() -> None:
    table = SmallCluster().table
    for name, zone in (("a1", "a"), ("a2", "a"), ("b1", "b"), ("a3", "a"), ("c1", "c"), ("b2", "b")):
        table.add_node(in_zone(name, zone))
    table.refresh()
    assert table.names() == ["a1", "b1", "c1", "a2", "b2", "a3"]


def test_a_zone_that_was_empty_comes_back_at_the_end() -> None:
    table = SmallCluster().table
    for name, zone in (("a1", "a"), ("b1", "b")):
        table.add_node(in_zone(name, zone))
    table.remove_node("a1")
    table.refresh()
    table.add_node(in_zone("a2", "a"))
    table.refresh()
    assert table.names() == ["b1", "a2"]


def test_a_zone_change_moves_a_node_only_when_the_list_is_made_anew() -> None:
    table = SmallCluster().table
    for name, zone in (("a1", "a"), ("b1", "b"), ("a2", "a")):
        table.add_node(in_zone(name, zone))
    table.refresh()
    table.update_node(in_zone("a1", "b"))
    table.refresh()
    assert table.names() == ["a1", "b1", "a2"]
    table.add_node(in_zone("b2", "b"))
    table.refresh()
    assert table.names() == ["a2", "b1", "a1", "b2"]


def test_pods_wait_for_their_node() -> None:
    cluster = SmallCluster()
    cluster.bound(a_pod("p", cpu="1"), "late")
    cluster.table.add_node(NodeInfo.read(a_node("late")))
    assert cluster.table.amounts_of_row(0, "cpu", "cpu")[1] == 1000
    cluster.table.remove_node("late")
    cluster.table.add_node(NodeInfo.read(a_node("late")))
    assert cluster.table.amounts_of_row(0, "cpu", "cpu")[1] == 1000


def test_a_removed_pod_is_replaced_by_the_last_one() -> None:
    cluster = SmallCluster(a_node("n"))
    first, _, third = (cluster.bound(a_pod(name), "n") for name in ("a", "b", "c"))
    cluster.table.remove_pod(first)
    assert [pod.name for pod in cluster.table.info(0).pods] == [third.name, "b"]


def test_imagined_rows_leave_the_table_alone() -> None:
    cluster = SmallCluster(a_node("n"))
    present = cluster.bound(a_pod("p", cpu="1"), "n")
    other = cluster.reader.read(a_pod("q", cpu="3"))
    view = cluster.table.what_if(np.asarray([0]), {0: [present]}, {0: [other]})
    assert view.requested("cpu").tolist() == [3000]
    view.put(0, present)
    assert view.requested("cpu").tolist() == [4000]
    view.take_back(0)
    assert [pod.name for pod in view[0].pods] == ["q"]
    assert cluster.table.all().requested("cpu").tolist() == [1000]


def test_counts_follow_pods_that_come_and_go() -> None:
    cluster = SmallCluster(a_node("a"), a_node("b"))
    matcher = PodMatcher.of("default", Selector.read({"matchLabels": {"app": "x"}}))
    cluster.bound(a_pod("p", labels={"app": "x"}), "a")
    assert cluster.table.all().matching(matcher).tolist() == [1, 0]
    moved = cluster.bound(a_pod("q", labels={"app": "x"}), "b")
    cluster.bound(a_pod("r", labels={"app": "y"}), "b")
    assert cluster.table.all().matching(matcher).tolist() == [1, 1]
    cluster.table.remove_pod(moved)
    assert cluster.table.all().matching(matcher).tolist() == [1, 0]


def test_a_removed_node_takes_no_part_in_what_its_row_held() -> None:
    cluster = SmallCluster(a_node("a", disk="ssd"), a_node("b", disk="hdd"))
    cluster.table.remove_node("a")
    assert cluster.attempt(a_pod("p", nodeSelector={"disk": "ssd"})).node == ""
    cluster.table.add_node(NodeInfo.read(a_node("c", disk="ssd")))
    assert cluster.table.row_of["c"] == 0
    assert cluster.attempt(a_pod("q", nodeSelector={"disk": "ssd"})).node == "c"
