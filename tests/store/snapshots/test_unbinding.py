"""--unbind: which pods lose their nodes, and the order in which they are scheduled again."""

from typing import Any, get_args

import pytest

from seatrial.api import Simulation
from seatrial.store.snapshots import Snapshot, Unbind, UnbindOrder
from seatrial.store.snapshots.unbinding import arrival_order, unbind
from tests.store.snapshots.objects import Document, lived, node, pod, workload
from tests.store.snapshots.rest import ONLY_DONE

OWNER = workload("StatefulSet")


def cluster() -> list[Document]:
    daemon, mirror = pod("daemon", workload("DaemonSet")), pod("mirror")
    mirror["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}
    system = pod("system", OWNER)
    system["metadata"]["namespace"] = "kube-system"
    ended, going = pod("ended", OWNER), pod("going", OWNER)
    ended["status"]["phase"] = "Succeeded"
    going["metadata"]["deletionTimestamp"] = "2026-05-01T10:00:30Z"
    return [node(), pod("owned", OWNER), pod("bare"), system, daemon, mirror, ended, going]


@pytest.mark.parametrize(
    ("which", "expected"), [("none", set()), ("workloads", {"owned"}), ("all", {"owned", "bare", "system"})]
)
def test_the_pods_that_lose_their_nodes(which: Unbind, expected: set[str]) -> None:
    found = unbind(cluster(), which)
    freed = {each["metadata"]["name"] for each in found if each["kind"] == "Pod" and "nodeName" not in each["spec"]}
    assert freed == expected


def test_a_pod_without_its_node_is_as_it_was_before() -> None:
    bound = pod("a", OWNER)
    bound["status"] |= {"qosClass": "Burstable", "podIP": "10.0.0.1", "nominatedNodeName": "n2"}
    (found,) = unbind([bound], "workloads")
    assert found["status"] == {"phase": "Pending", "qosClass": "Burstable"}
    assert found["metadata"] == bound["metadata"]


@pytest.mark.parametrize(("users", "is_allocated"), [(["a"], False), (["a", "other"], True)])
def test_devices_of_pods_that_lose_their_nodes_are_free(users: list[str], is_allocated: bool) -> None:
    status = {"allocation": {"devices": {}}, "reservedFor": [{"resource": "pods", "name": name} for name in users]}
    claim = lived("ResourceClaim", "gpu", "resource.k8s.io/v1", spec={}, status=status)
    _, found = unbind([pod("a", OWNER), claim], "workloads")
    assert ("allocation" in found["status"]) is is_allocated
    assert [user["name"] for user in found["status"].get("reservedFor", [])] == users[1:]


def aged(name: str, minute: int, priority: int = 0) -> Document:
    made = pod(name, OWNER)
    made["metadata"]["creationTimestamp"] = f"2026-05-01T10:{minute:02}:00Z"
    made["spec"]["priority"] = priority
    return made


PODS = [aged("young", 9, 10), aged("old", 1), aged("vital", 5, 100)]


@pytest.mark.parametrize(
    ("order", "expected"), [("created", ["old", "vital", "young"]), ("priority", ["vital", "young", "old"])]
)
def test_the_scheduler_tries_the_pods_in_the_order(order: UnbindOrder, expected: list[str]) -> None:
    assert attempts(order) == expected


def test_the_random_order_follows_the_seed() -> None:
    orders = {tuple(attempts("random", seed)) for seed in range(8)}
    assert len(orders) > 1
    assert attempts("random", 3) == attempts("random", 3)


def attempts(order: UnbindOrder, seed: int = 0) -> list[str]:
    """The pods in the order of their attempts in a run."""
    freed = unbind([node(), *PODS], "workloads")
    snapshot: Any = Snapshot(freed, arrival_order(freed, order, seed))
    entries = Simulation(ONLY_DONE, snapshot=snapshot).run().scenario["status"]["scenarioResult"]["timeline"]["1"]
    bound = [entry["podScheduled"]["pod"] for entry in entries if "podScheduled" in entry]
    return [each["metadata"]["name"] for each in bound]


def test_every_order_is_known() -> None:
    for order in get_args(UnbindOrder):
        assert sorted(arrival_order(unbind(PODS, "all"), order).values()) == [0, 1, 2]
