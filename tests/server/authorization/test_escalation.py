from typing import Any

import pytest

from tests.server.authorization.roles import GROUP, RBAC, binding, cluster_role, create, grant, role, rule
from tests.server.client import Reply, Server

WRITES = rule("get create update patch delete", "roles clusterroles rolebindings clusterrolebindings", GROUP)


@pytest.fixture
def server() -> Server:
    server = Server(rbac=True)
    grant(server, "ann", WRITES, rule("get list", "pods"))
    return server


def as_ann(server: Server, document: dict[str, Any], namespace: str = "") -> Reply:
    return create(server, document, namespace, impersonate_user="ann")


def test_a_user_may_grant_what_it_has(server: Server) -> None:
    assert as_ann(server, cluster_role("fine", rule("list", "pods"))).status == 201
    assert as_ann(server, role("fine", rule("list", "pods")), "default").status == 201
    assert as_ann(server, binding("fine", "fine", "User:bob")).status == 201


def test_a_role_with_more_rights_than_its_writer_is_refused(server: Server) -> None:
    refused = as_ann(server, cluster_role("big", rule("delete create", "pods"), rule("get", urls="/x")))
    assert refused.status == 403
    assert refused.json()["message"] == (
        f'clusterroles.{GROUP} "big" is forbidden: user "ann" (groups=["system:authenticated"]) is attempting to grant '
        "RBAC permissions not currently held:\n"
        '{APIGroups:[""], Resources:["pods"], Verbs:["delete" "create"]}\n'
        '{NonResourceURLs:["/x"], Verbs:["get"]}'
    )


def test_a_binding_to_a_stronger_role_is_refused(server: Server) -> None:
    refused = as_ann(server, binding("b", "cluster-admin", "User:ann", namespace="default"), "default")
    assert (refused.status, refused.json()["details"]["kind"]) == (403, "rolebindings")


def test_a_binding_to_a_role_that_does_not_exist_is_not_found(server: Server) -> None:
    missing = as_ann(server, binding("b", "none", "User:bob"))
    assert (missing.status, missing.json()["details"]["kind"]) == (404, "clusterrolebindings")
    assert create(server, binding("b", "none", "User:bob")).status == 201


def test_the_verbs_bind_and_escalate_lift_the_check(server: Server) -> None:
    grant(server, "bob", WRITES, rule("bind", "clusterroles", GROUP, names="system:node-proxier"))
    assert create(server, binding("b", "system:node-proxier", "User:x"), impersonate_user="bob").status == 201
    assert create(server, binding("c", "cluster-admin", "User:x"), impersonate_user="bob").status == 403
    grant(server, "eve", WRITES, rule("escalate", "clusterroles", GROUP))
    assert create(server, cluster_role("big", rule("*", "*", "*")), impersonate_user="eve").status == 201


def test_an_update_may_not_add_rights_but_may_change_finalizers(server: Server) -> None:
    create(server, cluster_role("big", rule("delete", "pods")))
    headers = {"content_type": "application/merge-patch+json", "impersonate_user": "ann"}
    path = f"{RBAC}/clusterroles/big"
    assert server("PATCH", path, {"metadata": {"finalizers": ["a.example/b"]}}, **headers).status == 200
    assert server("PATCH", path, {"metadata": {"labels": {"a": "b"}}}, **headers).status == 403
    assert server("PATCH", path, {"rules": [rule("list", "pods")]}, **headers).status == 200


def test_an_aggregation_rule_needs_every_right(server: Server) -> None:
    aggregated = cluster_role("all") | {"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}}
    refused = as_ann(server, aggregated)
    assert refused.status == 403
    assert refused.json()["message"].endswith("must have cluster-admin privileges to use the aggregationRule")
    grant(server, "eve", rule("*", "*", "*"), rule("*", urls="*"))
    assert create(server, aggregated, impersonate_user="eve").status == 201
