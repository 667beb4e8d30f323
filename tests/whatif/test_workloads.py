"""The table of workloads, checked by counting the dump.

Tests: results/workloads.py
"""

from collections import Counter
from pathlib import Path

import pytest

from tests.controllers.objects import deployment, pod
from tests.whatif.dump import cluster_dump, disks, made, node, small_dump, stateful
from tests.whatif.playing import drained, gone, items, nodes_of_zone, play, row, table, written


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("dump"), cluster_dump())


def test_a_cluster_at_rest_is_as_ready_as_its_dump(dump: Path) -> None:
    found = table(play(dump))
    pods, sets = items(dump.read_bytes(), "Pod"), items(dump.read_bytes(), "ReplicaSet")
    owners = {item["metadata"]["name"]: item["metadata"]["ownerReferences"][0]["name"] for item in sets}
    counted: Counter[tuple[str, str]] = Counter()
    for item in pods:
        owner = item["metadata"].get("ownerReferences", [{"name": item["metadata"]["name"]}])[0]["name"]
        counted[item["metadata"]["namespace"], owners.get(owner, owner)] += 1
    assert {(r["namespace"], r["name"]): r["ready_end"] for r in found.iter_rows(named=True)} == counted
    assert found["ready_start"].to_list() == found["ready_end"].to_list() == found["wanted"].to_list()
    assert found["ready_min_at"].null_count() == len(found)
    assert found.select("moved", "pending", "lost").sum().row(0) == (0, 0, 0)


def test_a_zone_that_is_gone_leaves_volumes_and_ordered_replicas_behind(dump: Path) -> None:
    """By hand: replicas 1, 4 and 7 of every StatefulSet have their volumes in eu-b."""
    zone = nodes_of_zone(dump.read_bytes(), "eu-b")
    result = play(dump, *(gone(name) for name in zone))
    bare = [item["metadata"]["name"] for item in items(dump.read_bytes(), "Pod")
            if item["metadata"]["name"].startswith("bare") and item["spec"]["nodeName"] in zone]  # fmt: skip
    assert {name: row(result, name)["lost"] for name in ("events", "ledger", "orders", *bare)} == {
        "events": 3, "ledger": 1, "orders": 2, **dict.fromkeys(bare, 1)
    }  # fmt: skip
    assert row(result, "events")["ready_end"] == 6
    assert row(result, "orders")["why"] == (
        "the volume of orders-1 stayed behind: no node that is left can use it; "
        "1 more replica is not made (OrderedReady) while orders-1 is not ready"
    )
    assert row(result, bare[0])["why"] == "a pod without a controller: nothing makes it again"
    daemons = row(result, "logs")
    assert (daemons["wanted"], daemons["ready_end"]) == (126 - len(zone), 126 - len(zone))


def test_a_deployment_dips_and_moves(tmp_path: Path) -> None:
    cluster = written(tmp_path, small_dump(node("general", 0), node("general", 1), deployment("web", 4), pod("alone")))
    used = Counter(
        p["spec"]["nodeName"] for p in items(cluster.read_bytes(), "Pod") if p["metadata"]["name"] != "alone"
    )
    result = play(cluster, drained("general-00", force=True))
    found = row(result, "web")
    assert (found["ready_start"], found["ready_min"], found["ready_end"]) == (4, 4 - used["general-00"], 4)
    assert found["moved"] == used["general-00"]
    assert found["why"] is None


def test_a_stateful_set_on_a_node_that_does_not_answer_is_said_to_be_stuck(tmp_path: Path) -> None:
    namespace = made("Namespace", "data")
    cluster = written(tmp_path, small_dump(namespace, node("general", 0), node("general", 1), node("general", 2),
                                           *disks("orders", 3), stateful("orders", 3)))  # fmt: skip
    unknown = '{"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}'
    stops = {"typeMeta": {"apiVersion": "v1", "kind": "Node"}, "objectMeta": {"name": "general-01"}, "patch": unknown}
    result = play(cluster, {"step": 1, "patchOperation": {**stops, "subresource": "status"}})
    found = row(result, "orders")
    assert (found["ready_end"], found["lost"]) == (2, 1)
    assert found["why"].startswith("orders-1 stays Terminating, since its node does not answer")
