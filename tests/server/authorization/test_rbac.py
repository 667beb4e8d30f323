"""RBAC: which requests the roles of a user allow.

Tests: server/authorization/rules.py, server/authorization/attributes.py, server/authorization/authorizer.py"""

from typing import Any

import pytest

from tests.server.authorization.roles import (
    GROUP,
    RBAC,
    REVIEWS,
    allowed,
    binding,
    cluster_role,
    create,
    grant,
    role,
    rule,
)
from tests.server.client import Server

PODS = "/api/v1/namespaces/default/pods"


@pytest.fixture
def server() -> Server:
    return Server(rbac=True)


def test_a_user_without_rules_is_forbidden_in_upstreams_words(server: Server) -> None:
    answer = server("GET", PODS + "/a/log", impersonate_user="ann")
    assert answer.status == 403
    assert answer.json() == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": 'pods "a" is forbidden: User "ann" cannot get resource "pods/log" in API group "" '
        'in the namespace "default"',
        "reason": "Forbidden",
        "details": {"name": "a", "kind": "pods"},
        "code": 403,
    }


def test_a_path_is_forbidden_with_empty_details(server: Server) -> None:
    answer = server("GET", "/metrics", impersonate_user="ann").json()
    assert answer["message"] == 'forbidden: User "ann" cannot get path "/metrics"'
    assert answer["details"] == {}


def test_authenticated_users_may_read_discovery(server: Server) -> None:
    assert server("GET", "/apis", impersonate_user="ann").status == 200
    assert server("GET", "/openapi/v3", impersonate_user="ann").status == 200
    assert server("GET", "/version", impersonate_user="ann").status == 200


def test_a_cluster_role_binding_gives_rights_everywhere(server: Server) -> None:
    grant(server, "ann", rule("get list", "pods"))
    assert allowed(server, "ann", "GET", PODS)
    assert allowed(server, "ann", "GET", "/api/v1/pods")
    assert not allowed(server, "ann", "GET", "/api/v1/pods?watch=true")
    assert not allowed(server, "ann", "DELETE", PODS + "/a")
    assert not allowed(server, "ann", "GET", PODS + "/a/status")


def test_a_role_binding_gives_rights_in_its_namespace_alone(server: Server) -> None:
    grant(server, "ann", rule("*", "pods */status"), namespace="default")
    assert allowed(server, "ann", "GET", PODS)
    assert allowed(server, "ann", "GET", PODS + "/a/status")
    assert not allowed(server, "ann", "GET", "/api/v1/namespaces/kube-system/pods")
    assert not allowed(server, "ann", "GET", "/api/v1/pods")


def test_a_role_of_another_namespace_is_not_found_by_a_binding(server: Server) -> None:
    create(server, role("reader", rule("get list", "pods")), "kube-system")
    create(server, binding("b", "reader", "User:ann", namespace="default", kind="Role"), "default")
    answer = server("GET", PODS, impersonate_user="ann").json()
    assert answer["message"].endswith(f'in the namespace "default": RBAC: role.{GROUP} "reader" not found')


def test_resource_names_cover_one_object_and_a_list_that_selects_it(server: Server) -> None:
    grant(server, "ann", rule("get list watch", "pods", names="a"))
    assert allowed(server, "ann", "GET", PODS + "/a")
    assert allowed(server, "ann", "GET", PODS + "?fieldSelector=metadata.name%3Da")
    assert not allowed(server, "ann", "GET", PODS + "/b")
    assert not allowed(server, "ann", "GET", PODS)


def test_a_binding_to_a_group_and_to_a_service_account(server: Server) -> None:
    create(server, cluster_role("reader", rule("list", "pods")))
    create(server, binding("one", "reader", "Group:crew"))
    create(server, binding("two", "reader", "default/robot"))
    assert server("GET", PODS, impersonate_user="x", impersonate_group="crew").status == 200
    assert allowed(server, "system:serviceaccount:default:robot", "GET", PODS)
    assert not allowed(server, "system:serviceaccount:kube-system:robot", "GET", PODS)


def test_a_removed_binding_takes_the_rights_away(server: Server) -> None:
    grant(server, "ann", rule("list", "pods"))
    assert allowed(server, "ann", "GET", PODS)
    assert server("DELETE", f"{RBAC}/clusterrolebindings/grant-ann-all").status == 200
    assert not allowed(server, "ann", "GET", PODS)


def test_paths_may_end_in_a_star(server: Server) -> None:
    grant(server, "ann", rule("get", urls="/metrics/*"))
    assert not allowed(server, "ann", "GET", "/metrics")
    assert allowed(server, "ann", "GET", "/metrics/cadvisor")


def test_authorization_comes_before_the_path_is_looked_up(server: Server) -> None:
    assert server("GET", "/apis/none.example/v1/things", impersonate_user="ann").status == 403
    assert server("GET", "/apis/none.example/v1/things").status == 404


def test_the_default_roles_are_there(server: Server) -> None:
    names = {item["metadata"]["name"] for item in server("GET", f"{RBAC}/clusterroles").json()["items"]}
    assert {"admin", "edit", "view", "cluster-admin", "system:kube-scheduler", "system:node"} <= names
    assert len(names) == 69


def test_a_self_subject_access_review_is_about_the_user_itself(server: Server) -> None:
    grant(server, "ann", rule("list", "pods"))

    def may(verb: str) -> dict[str, Any]:
        spec = {"resourceAttributes": {"verb": verb, "resource": "pods", "namespace": "default"}}
        body = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": spec}
        answer = server("POST", f"{REVIEWS}/selfsubjectaccessreviews", body, impersonate_user="ann")
        status: dict[str, Any] = answer.json()["status"]
        return status

    source = 'ClusterRoleBinding "grant-ann-all" of ClusterRole "grant-ann-all" to User "ann"'
    assert may("list") == {"allowed": True, "reason": f"RBAC: allowed by {source}"}
    assert may("get") == {"allowed": False}


def test_a_subject_access_review_names_its_user(server: Server) -> None:
    spec = {"user": "ann", "groups": ["system:masters"], "nonResourceAttributes": {"verb": "get", "path": "/x"}}
    body = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}
    assert server("POST", f"{REVIEWS}/subjectaccessreviews", body).json()["status"] == {"allowed": True}
    del spec["groups"], spec["user"]
    refused = server("POST", f"{REVIEWS}/subjectaccessreviews", body)
    assert refused.status == 422
    assert refused.json()["details"]["causes"][0]["field"] == "spec.user"


def test_a_local_review_must_be_about_its_namespace(server: Server) -> None:
    attributes = {"verb": "get", "resource": "pods", "namespace": "other"}
    spec = {"user": "ann", "resourceAttributes": attributes}
    body = {"apiVersion": "authorization.k8s.io/v1", "kind": "LocalSubjectAccessReview", "spec": spec}
    path = f"{REVIEWS}/namespaces/default/localsubjectaccessreviews"
    assert server("POST", path, body).status == 422
    attributes["namespace"] = "default"
    assert server("POST", path, body).json()["status"] == {"allowed": False}


def test_a_rules_review_lists_the_rules_of_a_namespace(server: Server) -> None:
    grant(server, "ann", rule("get", "pods", names="a"), namespace="default")
    body = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview", "spec": {"namespace": "default"}}
    status = server("POST", f"{REVIEWS}/selfsubjectrulesreviews", body, impersonate_user="ann").json()["status"]
    assert status["resourceRules"][-1] == {
        "verbs": ["get"],
        "apiGroups": [""],
        "resources": ["pods"],
        "resourceNames": ["a"],
    }
    assert status["incomplete"] is False


def test_selectors_that_cannot_be_read_are_reported(server: Server) -> None:
    selector = {"requirements": [{"key": "a", "operator": "In", "values": ["1", "2"]}]}
    spec = {"user": "ann", "resourceAttributes": {"verb": "list", "resource": "pods", "fieldSelector": selector}}
    body = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}
    status = server("POST", f"{REVIEWS}/subjectaccessreviews", body).json()["status"]
    assert status["evaluationError"] == "spec.resourceAttributes.fieldSelector ignored due to parse error"


def test_without_rbac_every_user_may_do_everything() -> None:
    server = Server()
    assert server("GET", PODS, impersonate_user="ann").status == 200
    body = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview", "spec": {"namespace": "default"}}
    status = server("POST", f"{REVIEWS}/selfsubjectrulesreviews", body).json()["status"]
    assert status["resourceRules"] == [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}]
