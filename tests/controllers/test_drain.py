"""The drain controller: who is evicted, who is left, what holds, and when."""

import json
from typing import Any

import pytest

from seatrial.controllers.drain.options import DRAIN, DRAINED, read_drain_options
from seatrial.model.times import MINUTE, SECOND
from tests.controllers.objects import Document, daemonset, deployment, job, pod, stage
from tests.controllers.replaying import Cluster
from tests.known_kinds import known_kind

STARTS_SLOWLY: Document = {
    "selector": {
        "matchExpressions": [
            {"key": ".metadata.deletionTimestamp", "operator": "DoesNotExist"},
            {"key": ".spec.nodeName", "operator": "Exists"},
            {"key": ".status.phase", "operator": "In", "values": ["Pending"]},
        ]
    },
    "delay": {"durationMilliseconds": 12_000},
    "next": {"statusTemplate": 'phase: Running\nconditions: [{type: Ready, status: "True"}]\n'},
}
GOES: Document = {
    "selector": {"matchExpressions": [{"key": ".metadata.deletionTimestamp", "operator": "Exists"}]},
    "next": {"delete": True},
}


def node(name: str) -> Document:
    room = {"cpu": "8", "memory": "16Gi", "pods": "20"}
    metadata = {"name": name, "labels": {"kubernetes.io/hostname": name, "pool": "blue"}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": {"allocatable": room, "capacity": room}}


def on(node: str, made: Document) -> Document:
    spec = made["spec"] if made["kind"] == "Pod" else made["spec"]["template"]["spec"]
    spec["nodeSelector"] = {"kubernetes.io/hostname": node}
    return made


def budget(app: str, **spec: Any) -> Document:
    selector = {"matchLabels": {"app": app}}
    metadata = {"name": app, "namespace": "default"}
    return {
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata,
        "spec": {"selector": selector, **spec},
    }  # fmt: skip


def cluster(*documents: Document, nodes: int = 2) -> Cluster:
    made = Cluster()
    made.create(*(node(f"n{number}") for number in range(nodes)), *documents)
    made.settle()
    return made


def drain(made: Cluster, *nodes: str, quiet: int = MINUTE, **options: Any) -> None:
    for name in nodes:
        notes = {DRAIN: json.dumps(options)}
        made.patch({"kind": "Node", "name": name, "body": {"metadata": {"annotations": notes}}})
    made.settle(quiet)


def record(made: Cluster, node: str) -> Document:
    found: Document = json.loads(made.get("Node", node)["metadata"]["annotations"].get(DRAINED, "{}"))
    return found


def pods_on(made: Cluster, node: str) -> list[str]:
    return sorted(pod["metadata"]["name"] for pod in made.all("Pod") if pod["spec"].get("nodeName") == node)


def test_a_drain_cordons_evicts_and_leaves_daemon_sets_and_mirror_pods() -> None:
    mirror = pod("static", annotations={"kubernetes.io/config.mirror": "x"}, nodeName="n0")
    made = cluster(deployment("web", 6), daemonset("agent"), mirror)
    assert len(pods_on(made, "n0")) == 5
    drain(made, "n0")
    left = pods_on(made, "n0")
    assert len(left) == 2
    assert any(name.startswith("agent-") for name in left)
    assert "static" in left
    assert made.get("Node", "n0")["spec"]["unschedulable"] is True
    assert record(made, "n0")["phase"] == "Drained"
    assert record(made, "n0")["evicted"] == 3
    assert len([each for each in made.all("Pod") if each["metadata"]["name"].startswith("web-")]) == 6


def test_bare_pods_and_local_data_need_their_flags_and_nothing_is_evicted_without_them() -> None:
    local = on("n0", deployment("local", 1))
    local["spec"]["template"]["spec"]["volumes"] = [{"name": "v", "emptyDir": {}}]
    made = cluster(on("n0", pod("bare")), local, on("n0", deployment("web", 2)))
    drain(made, "n0")
    found = record(made, "n0")
    assert (found["phase"], found.get("evicted", 0)) == ("Failed", 0)
    assert found["errors"][0] == (
        "cannot delete Pods that declare no controller (use --force to override): default/bare"
    )
    assert found["errors"][1].startswith(
        "cannot delete Pods with local storage (use --delete-emptydir-data to override): default/local-"
    )
    assert len(pods_on(made, "n0")) == 4


def test_flags_let_bare_pods_and_local_data_go() -> None:
    made = cluster(on("n0", pod("bare")), on("n0", job("work")))
    drain(made, "n0", force=True, deleteEmptydirData=True)
    assert pods_on(made, "n0") == []
    assert record(made, "n0")["evicted"] == 2


@pytest.mark.parametrize(("asked", "seconds"), [(90, 90), (0, 0), (-1, 30)])
def test_a_grace_period_takes_the_place_of_the_pods_own(asked: int, seconds: int) -> None:
    made = cluster(on("n0", pod("bare", terminationGracePeriodSeconds=30)))
    seen: list[Document] = []
    pods = known_kind(made.store.kinds, "v1", "Pod")
    made.store.subscribe(lambda change: seen.append(change.stored.document()["metadata"]), [pods])
    drain(made, "n0", force=True, gracePeriod=asked)
    assert next(each["deletionGracePeriodSeconds"] for each in seen if "deletionTimestamp" in each) == seconds


def test_a_refused_eviction_is_tried_again_every_five_seconds_and_the_hold_is_recorded() -> None:
    made = cluster(
        stage("slow", **STARTS_SLOWLY), stage("goes", **GOES), budget("web", minAvailable=2), deployment("web", 2)
    )
    for _ in range(2):
        made.settle(MINUTE)
    begin = made.clock.now()
    drain(made, "n0", "n1", command="all", quiet=5 * MINUTE)
    held = record(made, "n0")["held"]
    assert [hold["budget"] for hold in held] == ["default/web"]
    assert held[0]["why"] == "The disruption budget web needs 2 healthy pods and has 2 currently"
    assert "until" not in held[0]
    assert record(made, "n0")["phase"] == "Draining"
    assert record(made, "n1") == {}, "the second node of a command waits for the first"
    assert made.clock.now() - begin == 5 * MINUTE
    # The budget is lifted 301 s after the first refusal: kubectl tries again at 305 s.
    made.clock.advance(begin + 301 * SECOND)
    made.patch({"kind": "PodDisruptionBudget", "name": "web", "body": {"spec": {"minAvailable": 0}}})
    made.settle(MINUTE)
    assert record(made, "n0")["phase"] == "Drained"
    assert record(made, "n0")["held"][0]["until"] == "2030-01-01T00:07:17Z"
    assert record(made, "n1")["phase"] == "Drained"


def test_a_timeout_ends_the_drain_of_one_node_and_the_next_has_its_turn() -> None:
    made = cluster(budget("web", minAvailable=1), on("n0", deployment("web", 1)), on("n1", deployment("free", 1)))
    drain(made, "n0", "n1", command="all", timeout="32s", quiet=5 * MINUTE)
    (name,) = pods_on(made, "n0")
    assert record(made, "n0")["errors"] == [
        f'error when evicting pods/"{name}" -n "default": global timeout reached: 32s'
    ]
    assert record(made, "n0")["finished"] == "2030-01-01T00:00:35Z"
    assert record(made, "n1")["phase"] == "Drained"


@pytest.mark.parametrize(("surge", "most"), [(True, 4), (False, 3)])
def test_a_pool_is_replaced_node_by_node(surge: bool, most: int) -> None:
    made = cluster(deployment("web", 6), budget("web", maxUnavailable=2), nodes=3)
    seen: list[int] = []
    made.store.subscribe(lambda change: seen.append(len(made.all("Node"))), [made.kind("Node")])
    for number in range(3):
        new = {"name": f"new{number}", "surge": surge, "readyAfter": "1m", "kubeletVersion": "v1.37.0"}
        mark = {DRAIN: json.dumps({"command": "upgrade", "delete": True, "replacement": new})}
        made.patch({"kind": "Node", "name": f"n{number}", "body": {"metadata": {"annotations": mark}}})
    made.settle(5 * MINUTE)
    assert sorted(each["metadata"]["name"] for each in made.all("Node")) == ["new0", "new1", "new2"]
    assert max(seen) == most
    assert made.get("Node", "new0")["metadata"]["labels"]["pool"] == "blue"
    assert all(each["spec"]["nodeName"].startswith("new") for each in made.all("Pod"))
    assert len(made.all("Pod")) == 6


def test_options_that_cannot_be_read_are_said() -> None:
    with pytest.raises(ValueError, match="unknown field `forec`"):
        read_drain_options('{"forec": true}')
    with pytest.raises(ValueError, match="negative"):
        read_drain_options('{"timeout": "-1s"}')
