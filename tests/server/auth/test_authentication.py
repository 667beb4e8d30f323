from pathlib import Path
from typing import Any

import pytest

from seatrial.model.errors import ConfigError
from seatrial.server.auth.authentication import ANONYMOUS_ADMIN, Identities
from tests.server.client import Server

SELF = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
REVIEW = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}


def who(server: Server, **headers: str) -> dict[str, Any]:
    user: dict[str, Any] = server("POST", SELF, REVIEW, **headers).json()["status"]["userInfo"]
    return user


def test_a_request_without_token_is_refused(server: Server) -> None:
    answer = server("GET", "/api/v1/namespaces", authorization="")
    assert (answer.status, answer.json()["reason"]) == (401, "Unauthorized")


def test_an_unknown_token_is_refused(server: Server) -> None:
    assert server("GET", "/api/v1/namespaces", authorization="Bearer nonsense").status == 401
    assert server("GET", "/api/v1/namespaces", authorization="Bearer a.b.c").status == 401
    assert server("GET", "/api/v1/namespaces", authorization="Basic abc").status == 401


def test_the_kubeconfigs_user_is_a_cluster_admin(server: Server) -> None:
    assert "system:masters" in who(server)["groups"]


def test_a_service_account_token_stands_for_the_account(server: Server) -> None:
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot"}}
    server("POST", "/api/v1/namespaces/default/serviceaccounts", account)
    path = "/api/v1/namespaces/default/serviceaccounts/robot/token"
    issued = server("POST", path, {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})
    assert issued.status == 201
    user = who(server, authorization=f"Bearer {issued.json()['status']['token']}")
    assert user["username"] == "system:serviceaccount:default:robot"
    assert "system:serviceaccounts:default" in user["groups"]


def test_acting_for_another(server: Server) -> None:
    assert who(server, impersonate_user="ann", impersonate_group="crew")["username"] == "ann"
    assert who(server, impersonate_user="ann", impersonate_group="crew")["groups"] == ["crew", "system:authenticated"]


def test_token_file(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text('t1,ann,1,"crew,deck"\n\nt2,bob,2\n')
    identities = Identities()
    identities.load_file(file)
    assert identities.authenticate("Bearer t1").groups == ("crew", "deck", "system:authenticated")
    assert identities.authenticate("bearer t2").name == "bob"
    file.write_text("only-a-token\n")
    with pytest.raises(ConfigError, match="line 1"):
        identities.load_file(file)


def test_anonymous_is_admitted_where_that_is_wanted() -> None:
    assert Identities(anonymous=True).authenticate("") is ANONYMOUS_ADMIN


def test_reviews(server: Server) -> None:
    spec = {"resourceAttributes": {"verb": "create", "resource": "pods"}}
    for kind in ("SelfSubjectAccessReview", "SubjectAccessReview"):
        body = {"apiVersion": "authorization.k8s.io/v1", "kind": kind, "spec": spec | {"user": "ann"}}
        answer = server("POST", f"/apis/authorization.k8s.io/v1/{kind.lower()}s", body)
        assert (answer.status, answer.json()["status"]["allowed"]) == (201, True)
    token = {"token": "secret"}
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": token}
    reviewed = server("POST", "/apis/authentication.k8s.io/v1/tokenreviews", review).json()
    assert reviewed["status"]["user"]["username"] == "kubernetes-admin"
    token["token"] = "other"
    assert "authenticated" not in server("POST", "/apis/authentication.k8s.io/v1/tokenreviews", review).json()["status"]


def test_reviews_are_indented_for_curl(server: Server) -> None:
    assert server("POST", SELF, REVIEW, user_agent="curl/8").body.startswith(b'{\n  "')
    assert server("POST", SELF, REVIEW).body.startswith(b'{"')


def test_an_answer_has_the_audit_id_of_its_request(server: Server) -> None:
    assert server("GET", "/version", audit_id="mine").header("audit-id") == "mine"
    ids = {server("GET", "/version").header("audit-id") for _ in range(2)}
    assert len(ids) == 2 and {len(each) for each in ids} == {36}
