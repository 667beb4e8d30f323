"""Aggregated ClusterRoles hold the rules of the roles they select."""

from typing import Any

from tests.controllers.replaying import Cluster

LABEL = "rbac.example.com/aggregate-to-reader"


def role(name: str, resource: str, *, selected: bool = True) -> dict[str, Any]:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": name, "labels": {LABEL: "true"} if selected else {}},
        "rules": [{"apiGroups": [""], "resources": [resource], "verbs": ["get"]}],
    }


def reader() -> dict[str, Any]:
    selector = {"clusterRoleSelectors": [{"matchLabels": {LABEL: "true"}}]}
    return role("reader", "nodes", selected=False) | {"aggregationRule": selector}


def resources(cluster: Cluster) -> list[str]:
    return [rule["resources"][0] for rule in cluster.get("ClusterRole", "reader")["rules"]]


def test_the_rules_are_those_of_the_selected_roles() -> None:
    cluster = Cluster(["clusterroleaggregation"])
    cluster.create(
        reader(), role("b", "pods"), role("a", "services"), role("c", "pods"), role("x", "y", selected=False)
    )
    cluster.settle()
    assert resources(cluster) == ["services", "pods"]
    owner = cluster.get("ClusterRole", "reader")["metadata"]["managedFields"][0]
    assert (owner["manager"], owner["fieldsV1"]) == ("clusterrole-aggregation-controller", {"f:rules": {}})


def test_the_rules_follow_a_change_of_a_selected_role() -> None:
    cluster = Cluster(["clusterroleaggregation"])
    cluster.create(reader(), role("a", "services"))
    cluster.settle()
    cluster.delete({"kind": "ClusterRole", "name": "a"})
    cluster.create(role("b", "pods"))
    cluster.settle()
    assert resources(cluster) == ["pods"]
