from typing import Any

import pytest

from seatrial.store.users import User
from tests.server.authorization.roles import grant, rule
from tests.server.client import Server

SELF = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
REVIEW = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}


@pytest.fixture
def server() -> Server:
    server = Server(rbac=True)
    server.identities.add("bob", User("bob", ("system:authenticated",)))
    return server


def who(server: Server, **headers: str) -> dict[str, Any]:
    user: dict[str, Any] = server("POST", SELF, REVIEW, **headers).json()["status"]["userInfo"]
    return user


def test_groups_follow_the_user(server: Server) -> None:
    assert who(server, impersonate_user="ann")["groups"] == ["system:authenticated"]
    assert who(server, impersonate_user="ann", impersonate_group="crew")["groups"] == ["crew", "system:authenticated"]
    account = who(server, impersonate_user="system:serviceaccount:default:robot")
    assert account["groups"] == ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"]
    node = who(server, impersonate_user="system:node:n1")
    assert node["groups"] == ["system:nodes", "system:authenticated"]


def test_uid_and_extra_values_are_taken_over(server: Server) -> None:
    user = who(server, impersonate_user="ann", impersonate_uid="7", **{"impersonate-extra-acme.io%2ffoo": "b"})
    assert (user["uid"], user["extra"]) == ("7", {"acme.io/foo": ["b"]})


def test_a_group_without_a_user_is_a_bad_request(server: Server) -> None:
    answer = server("GET", "/api/v1/pods", impersonate_group="crew")
    assert answer.status == 400
    assert answer.json()["message"] == (
        'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"crew"}, '
        "Extra:map[string][]string(nil)} without impersonating a user name"
    )


def test_the_verb_impersonate_is_enough(server: Server) -> None:
    as_bob = {"authorization": "Bearer bob", "impersonate_user": "ann"}
    refused = server("POST", SELF, REVIEW, **as_bob)
    assert refused.status == 403
    assert "cannot impersonate-on:user-info:create resource" in refused.json()["message"]
    grant(server, "bob", rule("impersonate", "users", names="ann"))
    assert who(server, **as_bob)["username"] == "ann"
    assert server("POST", SELF, REVIEW, **as_bob, impersonate_group="crew").status == 403


def test_constrained_impersonation_wants_the_right_to_the_request_too(server: Server) -> None:
    as_bob = {"authorization": "Bearer bob", "impersonate_user": "ann"}
    grant(server, "bob", rule("impersonate:user-info", "users", "authentication.k8s.io", names="ann"))
    assert server("POST", SELF, REVIEW, **as_bob).status == 403
    grant(
        server,
        "bob",
        rule("impersonate-on:user-info:create", "selfsubjectreviews", "authentication.k8s.io"),
        namespace="default",
    )
    assert server("POST", SELF, REVIEW, **as_bob).status == 403


def test_constrained_impersonation_of_a_service_account(server: Server) -> None:
    as_bob = {"authorization": "Bearer bob", "impersonate_user": "system:serviceaccount:default:robot"}
    grant(
        server,
        "bob",
        rule("impersonate:serviceaccount", "serviceaccounts", "authentication.k8s.io", names="robot"),
        rule("impersonate-on:serviceaccount:create", "selfsubjectreviews", "authentication.k8s.io"),
    )
    assert who(server, **as_bob)["username"] == "system:serviceaccount:default:robot"
    assert server("GET", "/api/v1/pods", **as_bob).status == 403
