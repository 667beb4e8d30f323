"""Pods of DaemonSets and mirror pods keep no node in use."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from seatrial.api import run
from seatrial.results.headlines import headline
from seatrial.results.measure import all_measures
from seatrial.results.run import Run
from tests.results.conftest import Story, node, pod, told_run

SAVING = Path(__file__).parents[2] / "examples" / "node-saving"


def of_daemonset(name: str, on: str) -> dict[str, Any]:
    document = pod(name, "100m", on)
    document["metadata"]["ownerReferences"] = [{"kind": "DaemonSet", "name": "agent", "controller": True, "uid": "d"}]
    return document


def mirror(name: str, on: str) -> dict[str, Any]:
    document = pod(name, "100m", on)
    document["metadata"] |= {"ownerReferences": [], "annotations": {"kubernetes.io/config.mirror": "hash"}}
    return document


@pytest.fixture
def told() -> Run:
    """Three nodes: one has a pod of a ReplicaSet, one a mirror pod alone, all have one of a DaemonSet."""
    story = Story()
    for name, price in (("n1", "1"), ("n2", "2"), ("n3", "4")):
        story.tell(1, 0, "create", node(name, "a", price))
        story.tell(1, 0, "create", of_daemonset(f"agent-{name}", name))
    story.tell(1, 0, "create", mirror("kube-proxy-n2", "n2"))
    story.tell(1, 0, "create", pod("web", "1", "n3"))
    return told_run(story)


def test_daemonset_and_mirror_pods_keep_no_node_in_use(told: Run) -> None:
    cost = all_measures()["cost"]
    (row,) = cost.compute(told).to_dicts()
    assert (row["nodes"], row["used_nodes"], row["idle_nodes"]) == (3, 1, 2)
    assert (row["price_per_hour"], row["used_price_per_hour"]) == (7.0, 4.0)
    assert cost.summary(cost.compute(told)) == {"nodes_used": 1.0, "used_price_per_hour": 4.0}


def test_the_report_says_how_many_nodes_could_be_switched_off(told: Run) -> None:
    shown = {row["label"]: row["value"] for row in headline(told)}
    assert (shown["Nodes in use"], shown["Could be switched off"]) == ("1", "2")


def test_packing_saves_nodes_in_a_cluster_with_a_daemonset() -> None:
    """The node-saving example with one DaemonSet more; its pods are on all thirty nodes either way."""
    scenario = yaml.safe_load((SAVING / "scenario.yaml").read_text())
    labels = {"app": "agent"}
    container = {"name": "c", "image": "example.com/agent", "resources": {"requests": {"cpu": "100m"}}}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    agent = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "agent", "namespace": "default"},
        "spec": {"selector": {"matchLabels": labels}, "template": template},
    }
    scenario["spec"]["operations"].insert(0, {"step": 1, "createOperation": {"object": agent}})
    scenario["spec"]["controllers"]["preSimulationControllers"] = {"enabled": [{"name": "daemonset"}]}
    used = []
    for config in (None, SAVING / "scheduler.most.yaml"):
        result = run(scenario, config)
        played = replace(result.run, name="played")
        assert sum(pod.owner == "DaemonSet/agent" and bool(pod.node) for pod in played.pods) == 30
        cost = all_measures()["cost"]
        used.append(cost.summary(cost.compute(played))["nodes_used"])
    assert used == [30.0, 12.0]
