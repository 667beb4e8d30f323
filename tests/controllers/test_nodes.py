"""Nodes in trouble: taints, evictions, zones, pods without a node."""

from typing import Any

import pytest

from seatrial.controllers.node.zones import Zones, place_of
from seatrial.controllers.tainteviction import stay, tolerates
from seatrial.model.times import SECOND
from tests.controllers.objects import deployment, pod
from tests.controllers.replaying import Cluster


def set_ready(cluster: Cluster, name: str, status: str) -> None:
    conditions = [{"type": "Ready", "status": status, "reason": "R", "message": "m"}]
    body = {"status": {"conditions": conditions}}
    cluster.patch({"kind": "Node", "name": name, "subresource": "status", "body": body})


def taints(cluster: Cluster, name: str) -> set[tuple[str, str]]:
    found = cluster.get("Node", name)["spec"].get("taints", [])
    return {(taint["key"].removeprefix("node.kubernetes.io/"), taint["effect"]) for taint in found}


def test_a_node_that_is_not_heard_of_is_unreachable_and_its_pods_are_not_ready(cluster: Cluster) -> None:
    cluster.create(pod("a", nodeSelector={"kubernetes.io/hostname": "n0"}))
    cluster.settle()
    set_ready(cluster, "n0", "Unknown")
    cluster.settle()
    assert taints(cluster, "n0") == {("unreachable", "NoSchedule"), ("unreachable", "NoExecute")}
    conditions = {c["type"]: c["status"] for c in cluster.get("Pod", "a")["status"]["conditions"]}
    assert conditions["Ready"] == "False"


def test_pods_leave_a_lost_node_after_five_minutes_and_come_up_elsewhere(cluster: Cluster) -> None:
    cluster.create(deployment(replicas=3))
    cluster.settle()
    set_ready(cluster, "n0", "Unknown")
    cluster.settle(299 * SECOND)
    assert len(cluster.all("Pod")) == 3
    cluster.settle(5 * SECOND)
    pods = cluster.all("Pod")
    where = [found["spec"]["nodeName"] for found in pods if "deletionTimestamp" not in found["metadata"]]
    assert len(where) == 3
    assert "n0" not in where
    # The kubelet does not answer: the pods it had stay Terminating, until it does.
    left = [found["spec"]["nodeName"] for found in pods if "deletionTimestamp" in found["metadata"]]
    assert left == ["n0"]
    set_ready(cluster, "n0", "True")
    cluster.settle()
    assert len(cluster.all("Pod")) == 3


def test_a_node_that_comes_back_in_time_keeps_its_pods(cluster: Cluster) -> None:
    cluster.create(deployment(replicas=3))
    cluster.settle()
    before = [found["metadata"]["uid"] for found in cluster.all("Pod")]
    set_ready(cluster, "n0", "Unknown")
    cluster.settle(200 * SECOND)
    set_ready(cluster, "n0", "True")
    cluster.settle(400 * SECOND)
    assert taints(cluster, "n0") == set()
    assert [found["metadata"]["uid"] for found in cluster.all("Pod")] == before


def test_pods_whose_node_is_gone_are_ended_and_replaced(cluster: Cluster) -> None:
    cluster.create(deployment(replicas=3))
    cluster.settle()
    cluster.delete({"kind": "Node", "name": "n0"})
    cluster.settle()
    assert len(cluster.all("Pod")) == 3
    assert "n0" not in {found["spec"]["nodeName"] for found in cluster.all("Pod")}


@pytest.mark.parametrize(
    ("ready", "unready", "evicts"),
    [(3, 1, True), (2, 3, False), (1, 2, True), (0, 3, False), (20, 40, True), (5, 6, True), (2, 6, False)],
)
def test_a_small_zone_that_has_lost_most_of_its_nodes_evicts_nobody(ready: int, unready: int, evicts: bool) -> None:
    zones = Zones()
    for number in range(ready + unready):
        zones.put(f"n{number}", place_of({}, "True" if number < ready else "Unknown"))
    assert zones.evicts(":") is evicts


def test_a_zone_that_is_lost_as_a_whole_evicts_while_others_live() -> None:
    zones = Zones()
    zones.put("a", place_of({"topology.kubernetes.io/zone": "a"}, "False"))
    zones.put("b", place_of({"topology.kubernetes.io/zone": "b"}, "True"))
    assert zones.evicts(":a")
    zones.put("b", place_of({"topology.kubernetes.io/zone": "b"}, "False"))
    assert zones.all_are_lost()
    assert not zones.evicts(":a")


TAINT = {"key": "k", "value": "v", "effect": "NoExecute"}


@pytest.mark.parametrize(
    ("toleration", "answer"),
    [
        ({"key": "k", "operator": "Equal", "value": "v"}, True),
        ({"key": "k", "value": "other"}, False),
        ({"key": "k", "operator": "Exists"}, True),
        ({"operator": "Exists"}, True),
        ({"key": "k", "operator": "Exists", "effect": "NoSchedule"}, False),
        ({"key": "other", "operator": "Exists"}, False),
    ],
)
def test_a_toleration_covers_a_taint(toleration: dict[str, Any], answer: bool) -> None:
    assert tolerates(toleration, TAINT) is answer


@pytest.mark.parametrize(
    ("tolerations", "seconds"),
    [
        ([], 0),
        ([{"operator": "Exists"}], None),
        ([{"operator": "Exists", "tolerationSeconds": 30}], 30),
        (
            [
                {"operator": "Exists", "tolerationSeconds": 30},
                {"key": "k", "operator": "Exists", "tolerationSeconds": 5},
            ],
            5,
        ),
        ([{"operator": "Exists", "tolerationSeconds": -3}], 0),
    ],
)
def test_the_shortest_toleration_says_how_long_a_pod_stays(
    tolerations: list[dict[str, Any]], seconds: int | None
) -> None:
    assert stay(tolerations, [TAINT]) == seconds
