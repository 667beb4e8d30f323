"""Extenders without a node cache: the nodes they give back are taken as they are given."""

from typing import Any, ClassVar

import pytest

from seatrial.plugins import Plugin
from tests.scheduler.extender.test_scheduler_extenders import Faked, world
from tests.scheduler.scheduler_world import World, enabled


def all_nodes(verb: str, args: Any) -> Any:
    return {"Nodes": args["Nodes"]} if verb == "filter" else []


def loaded(made: World) -> None:
    """Two pods that leave n1 with less room than the other nodes."""
    for name in ("x", "y"):
        made.pod(name, nodeName="n1")


def test_nodes_that_an_extender_gives_back_are_scored_without_their_pods() -> None:
    made, _ = world(all_nodes, filterVerb="filter")
    loaded(made)
    made.pod("a")
    (decision,) = made.run()
    assert decision.node == "n1"
    assert len(set(decision.total.tolist())) == 1


def test_names_that_an_extender_gives_back_are_scored_with_their_pods() -> None:
    made, _ = world(lambda verb, args: {"NodeNames": args["NodeNames"]}, filterVerb="filter", nodeCacheCapable=True)
    loaded(made)
    made.pod("a")
    (decision,) = made.run()
    assert decision.node == "n2"


def test_nodes_that_an_extender_gives_back_are_scored_without_their_images() -> None:
    made, _ = world(all_nodes, filterVerb="filter")
    image = {"names": ["i:latest"], "sizeBytes": 2_000_000_000}
    made.change("Node", "n3", lambda node: node["status"].__setitem__("images", [image]), "status")
    made.pod("a")
    (decision,) = made.run()
    assert decision.node == "n1"


def test_labels_and_taints_that_an_extender_changes_count_in_the_scores() -> None:
    def label(verb: str, args: Any) -> Any:
        for item in args["Nodes"]["items"]:
            if item["metadata"]["name"] == "n3":
                item["metadata"]["labels"] = {"disk": "new"}
            if item["metadata"]["name"] == "n1":
                item["spec"]["taints"] = [{"key": "hot", "effect": "PreferNoSchedule"}]
        return {"Nodes": args["Nodes"]}

    made, _ = world(label, filterVerb="filter")
    wanted = {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["new"]}]}
    terms = [{"weight": 10, "preference": wanted}]
    made.pod("a", affinity={"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": terms}})
    made.pod("b")
    assert [decision.node for decision in made.run()] == ["n3", "n2"]


def test_spreading_counts_the_pods_of_the_cluster_and_none_of_the_host() -> None:
    made, _ = world(all_nodes, filterVerb="filter")
    for name in ("n1", "n2", "n3"):
        made.change("Node", name, lambda node: node["metadata"]["labels"].__setitem__("zone", node["metadata"]["name"]))
    made.pod("x", labels={"app": "a"}, nodeName="n1")
    selector = {"matchLabels": {"app": "a"}}

    def spread(key: str) -> Any:
        rule = {"topologyKey": key, "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": selector}
        return [rule]

    made.pod("by-host", labels={"app": "a"}, topologySpreadConstraints=spread("kubernetes.io/hostname"))
    made.pod("by-zone", labels={"app": "a"}, topologySpreadConstraints=spread("zone"))
    assert [decision.node for decision in made.run()] == ["n1", "n2"]


def test_a_pod_goes_to_a_node_that_only_the_extender_knows() -> None:
    stranger = {"metadata": {"name": "n9", "labels": {"zone": "z"}}, "status": {"allocatable": {"cpu": "8"}}}
    made, _ = world(
        lambda verb, args: {"Nodes": {"items": [stranger]}} if verb == "filter" else [],
        {"urlPrefix": "http://second/", "prioritizeVerb": "prioritize", "weight": 1},
        filterVerb="filter",
    )
    made.pod("a")
    (decision,) = made.run()
    assert (decision.node, made.node_of("a")) == ("n9", "n9")


def test_the_next_extender_is_sent_the_nodes_as_they_were_given_back() -> None:
    def mark(verb: str, args: Any) -> Any:
        for item in args["Nodes"]["items"]:
            item["metadata"]["annotations"] = {"seen": "yes"}
        return {"Nodes": args["Nodes"]} if verb == "filter" else []

    second = {"urlPrefix": "http://second/", "prioritizeVerb": "prioritize", "weight": 1}
    made, transport = world(mark, second, filterVerb="filter")
    made.pod("a")
    made.run()
    sent = next(args for verb, args in transport.asked if verb == "prioritize")
    assert [item["metadata"]["annotations"] for item in sent["Nodes"]["items"]] == [{"seen": "yes"}] * 3


def test_a_node_dropped_without_a_reason_is_a_rejection_by_extenders() -> None:
    made, _ = world(lambda verb, args: {"NodeNames": []}, filterVerb="filter", nodeCacheCapable=True)
    made.pod("a")
    decision = made.run()[0]
    assert decision.rejected_by == ("Extender",)


def test_a_node_that_cannot_be_read_is_an_error() -> None:
    made, _ = world(lambda verb, args: {"Nodes": {"items": [{"metadata": 5}]}}, filterVerb="filter")
    made.pod("a")
    decision = made.run()[0]
    assert decision.outcome == "error"


class Fresh(Plugin):
    """Prefers nodes with the label that the extender gives them, and sees no pods on them."""

    seen: ClassVar[list[int]] = []

    def score(self, pod: Any, nodes: Any, state: Any) -> Any:
        self.seen.extend(len(node.pods) for node in nodes)
        assert nodes.requested("cpu").sum() == 0
        return [100 if node.labels.get("fresh") else 0 for node in nodes]


def test_a_users_plugin_scores_the_nodes_that_came_back(monkeypatch: pytest.MonkeyPatch) -> None:
    def mark(verb: str, args: Any) -> Any:
        for item in args["Nodes"]["items"]:
            if item["metadata"]["name"] == "n2":
                item["metadata"]["labels"]["fresh"] = "yes"
        return {"Nodes": args["Nodes"]}

    monkeypatch.setattr(Fresh, "seen", [])
    config = enabled("Fresh")
    config["extenders"] = [{"urlPrefix": "http://extender/", "filterVerb": "filter"}]
    made = World(config, [Fresh], transport=Faked(mark))
    for name in ("n1", "n2", "n3"):
        made.node(name)
    loaded(made)
    made.pod("a")
    (decision,) = made.run()
    assert (decision.node, Fresh.seen) == ("n2", [0, 0, 0])
