"""Tokens of service accounts: they expire, end with their account, and are for some audiences only.

Tests: server/auth/tokens.py, server/auth/signing.py
"""

import json
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

from seatrial.model.times import SECOND
from seatrial.server.auth.token_signer import bytes_of, text_of
from tests.server.client import Server
from tests.server.documents import PODS, pod

ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"


@pytest.fixture
def account(server: Server) -> str:
    document = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot"}}
    assert server("POST", ACCOUNTS, document).status == 201
    return f"{ACCOUNTS}/robot"


def issued(server: Server, account: str, **spec: Any) -> str:
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
    answer = server("POST", f"{account}/token", body)
    assert answer.status == 201, answer.body
    token: str = answer.json()["status"]["token"]
    return token


def is_accepted(server: Server, token: str) -> bool:
    return server("GET", "/api/v1/namespaces", authorization=f"Bearer {token}").status != 401


def reviewed(server: Server, token: str, **spec: Any) -> dict[str, Any]:
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token} | spec}
    status: dict[str, Any] = server("POST", "/apis/authentication.k8s.io/v1/tokenreviews", body).json()["status"]
    return status


def test_a_token_expires(server: Server, account: str) -> None:
    token = issued(server, account, expirationSeconds=600)
    server.store.clock.advance(server.store.clock.now() + 600 * SECOND)
    assert is_accepted(server, token)
    server.store.clock.advance(server.store.clock.now() + 61 * SECOND)
    assert not is_accepted(server, token)


def test_a_token_ends_with_its_account(server: Server, account: str) -> None:
    token = issued(server, account)
    assert is_accepted(server, token)
    server("DELETE", account)
    assert not is_accepted(server, token)
    server("POST", ACCOUNTS, {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot"}})
    assert not is_accepted(server, token)


def test_a_token_for_another_audience_is_not_for_the_api(server: Server, account: str) -> None:
    token = issued(server, account, audiences=["vault"])
    assert not is_accepted(server, token)
    assert "authenticated" not in reviewed(server, token)
    assert reviewed(server, token, audiences=["vault", "other"])["audiences"] == ["vault"]


def test_a_review_for_an_audience_that_the_token_does_not_have_fails(server: Server, account: str) -> None:
    assert "authenticated" not in reviewed(server, issued(server, account), audiences=["vault"])


def test_a_token_ends_with_the_pod_it_is_bound_to(server: Server, account: str) -> None:
    document = pod("a")
    document["spec"]["serviceAccountName"] = "robot"
    assert server("POST", PODS, document).status == 201
    token = issued(server, account, boundObjectRef={"apiVersion": "v1", "kind": "Pod", "name": "a"})
    assert is_accepted(server, token)
    server("DELETE", f"{PODS}/a?gracePeriodSeconds=0")
    assert not is_accepted(server, token)


def test_a_token_is_not_bound_to_a_pod_of_another_account(server: Server, account: str) -> None:
    server("POST", PODS, pod("a"))
    spec = {"boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": "a"}}
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
    assert server("POST", f"{account}/token", body).status == 400


def test_a_token_that_was_altered_is_refused(server: Server, account: str) -> None:
    head, claims, signature = issued(server, account).split(".")
    assert not is_accepted(server, f"{head}.{claims[:-2]}AA.{signature}")


def test_the_public_key_of_the_issuer_verifies_its_tokens(server: Server, account: str) -> None:
    metadata = server("GET", "/.well-known/openid-configuration", host="127.0.0.1:3131")
    assert metadata.json()["issuer"] == "https://kubernetes.default.svc"
    assert metadata.json()["jwks_uri"] == "https://127.0.0.1:3131/openid/v1/jwks"
    answer = server("GET", "/openid/v1/jwks", accept="application/jwk-set+json")
    assert answer.header("content-type") == "application/jwk-set+json"
    [key] = answer.json()["keys"]
    head, _, signature = issued(server, account).rpartition(".")
    assert json.loads(bytes_of(head.partition(".")[0])) == {"alg": key["alg"], "kid": key["kid"]}
    x, y = (int.from_bytes(bytes_of(key[name])) for name in ("x", "y"))
    numbers = (int.from_bytes(part) for part in (bytes_of(signature)[:32], bytes_of(signature)[32:]))
    public = ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()
    public.verify(encode_dss_signature(*numbers), head.encode(), ec.ECDSA(SHA256()))
    assert server("GET", "/openid/v1/jwks", accept="application/json").status == 406


def test_a_token_that_was_changed_is_not_accepted(server: Server, account: str) -> None:
    head, claims, signature = issued(server, account).split(".")
    forged = json.loads(bytes_of(claims)) | {"sub": "system:serviceaccount:kube-system:admin"}
    other = text_of(json.dumps(forged).encode())
    none = text_of(json.dumps({"alg": "none"}).encode())
    for token in (f"{head}.{other}.{signature}", f"{none}.{claims}.", f"{head}.{claims}.{'A' * 86}", "a.b.c"):
        assert not is_accepted(server, token)


def test_a_pod_needs_the_account_that_it_names(server: Server, account: str) -> None:
    document = pod("a")
    document["spec"]["serviceAccountName"] = "nobody"
    refused = server("POST", PODS, document)
    assert (refused.status, refused.json()["message"]) == (
        403,
        'pods "a" is forbidden: error looking up service account default/nobody: serviceaccount "nobody" not found',
    )
    document["spec"]["serviceAccountName"] = "robot"
    assert server("POST", PODS, document).status == 201
    assert server("DELETE", account).status == 200
    document["metadata"]["name"] = "b"
    assert server("POST", PODS, document).status == 403
