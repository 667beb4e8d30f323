from typing import Any

import pytest

from tests.server.client import Server
from tests.server.documents import MAPS, PODS, config_map, node, pod


def test_created_object_is_read_back(server: Server) -> None:
    created = server("POST", MAPS, config_map("a", x="1"))
    assert created.status == 201
    read = server("GET", f"{MAPS}/a")
    assert read.status == 200
    assert read.json() == created.json()
    assert read.json()["data"] == {"x": "1"}


def test_a_taken_name_is_refused_with_upstreams_status(server: Server) -> None:
    server("POST", MAPS, config_map("a"))
    again = server("POST", MAPS, config_map("a"))
    assert again.status == 409
    assert again.json()["reason"] == "AlreadyExists"
    assert again.json()["message"] == 'configmaps "a" already exists'
    assert again.json()["details"] == {"name": "a", "kind": "configmaps"}


def test_update_needs_the_latest_revision(server: Server) -> None:
    first = server("POST", MAPS, config_map("a")).json()
    changed = first | {"data": {"x": "2"}}
    assert server("PUT", f"{MAPS}/a", changed).status == 200
    stale = server("PUT", f"{MAPS}/a", changed)
    assert (stale.status, stale.json()["reason"]) == (409, "Conflict")


def test_update_of_another_name_is_refused(server: Server) -> None:
    server("POST", MAPS, config_map("a"))
    assert server("PUT", f"{MAPS}/a", config_map("b")).status == 400


def test_dry_run_leaves_nothing_behind(server: Server) -> None:
    assert server("POST", f"{MAPS}?dryRun=All", config_map("a")).status == 201
    assert server("GET", f"{MAPS}/a").status == 404


def test_delete_answers_success_and_the_object_is_gone(server: Server) -> None:
    server("POST", MAPS, config_map("a"))
    gone = server("DELETE", f"{MAPS}/a")
    assert (gone.status, gone.json()["status"]) == (200, "Success")
    assert server("GET", f"{MAPS}/a").status == 404


def test_deleted_pod_is_answered_as_the_object(server: Server) -> None:
    server("POST", PODS, pod("a"))
    assert server("DELETE", f"{PODS}/a").json()["kind"] == "Pod"


def test_delete_collection_takes_the_selected_only(server: Server) -> None:
    server("POST", PODS, pod("a", app="x"))
    server("POST", PODS, pod("b", app="y"))
    answer = server("DELETE", f"{PODS}?labelSelector=app%3Dx")
    assert [item["metadata"]["name"] for item in answer.json()["items"]] == ["a"]
    assert [item["metadata"]["name"] for item in server("GET", PODS).json()["items"]] == ["b"]


@pytest.mark.parametrize(
    ("type", "patch"),
    [
        ("application/merge-patch+json", {"data": {"y": "2"}}),
        ("application/strategic-merge-patch+json", {"data": {"y": "2"}}),
        ("application/json-patch+json", [{"op": "add", "path": "/data/y", "value": "2"}]),
    ],
)
def test_patch_types(server: Server, type: str, patch: object) -> None:
    server("POST", MAPS, config_map("a", x="1"))
    patched = server("PATCH", f"{MAPS}/a", patch, content_type=type)
    assert patched.status == 200
    assert patched.json()["data"] == {"x": "1", "y": "2"}


def test_patch_of_an_unknown_type_is_415(server: Server) -> None:
    server("POST", MAPS, config_map("a"))
    refused = server("PATCH", f"{MAPS}/a", {}, content_type="application/json")
    assert refused.status == 415
    assert refused.json()["message"] == "415: Unsupported Media Type"


def test_binding_a_pod_sets_its_node(server: Server) -> None:
    server("POST", "/api/v1/nodes", node("n"))
    server("POST", PODS, pod("a"))
    binding = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": "a"},
        "target": {"kind": "Node", "name": "n"},
    }
    bound = server("POST", f"{PODS}/a/binding", binding)
    assert (bound.status, bound.json()["status"]) == (201, "Success")
    assert server("GET", f"{PODS}/a").json()["spec"]["nodeName"] == "n"
    assert server("POST", f"{PODS}/a/binding", binding).status == 409


def test_eviction_deletes_the_pod(server: Server) -> None:
    server("POST", PODS, pod("a"))
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "a", "namespace": "default"}}
    assert server("POST", f"{PODS}/a/eviction", body).status == 201
    assert server("GET", f"{PODS}/a").status == 404


@pytest.mark.parametrize("subresource", ["log", "exec", "attach", "portforward"])
def test_nothing_runs_in_a_simulated_pod_and_the_answer_says_so(server: Server, subresource: str) -> None:
    server("POST", PODS, pod("a"))
    answer = server("GET", f"{PODS}/a/{subresource}")
    assert answer.status == 400
    assert "simulated" in answer.json()["message"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/v1/nonsense", 404),
        ("GET", "/apis/no.such.group/v1/things", 404),
        ("POST", "/api/v1/pods", 405),
        ("PUT", "/api/v1/namespaces/default/pods", 405),
        ("DELETE", "/api/v1/namespaces", 405),
        ("GET", "/api/v1/namespaces/default/pods/a/nonsense", 404),
        ("GET", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", 405),
    ],
)
def test_paths_and_methods_that_are_not_served(server: Server, method: str, path: str, status: int) -> None:
    body: dict[str, Any] | None = {} if method in ("POST", "PUT") else None
    assert server(method, path, body).status == status


def test_wrong_bodies_are_400(server: Server) -> None:
    for body in (b"", b"{", b"[]", b'"text"', b"null", b'{"kind": 5}', b'{"kind":"Pod","apiVersion":"v1"}'):
        assert server("POST", MAPS, body).status == 400, body


def test_unknown_content_type_is_415(server: Server) -> None:
    assert server("POST", MAPS, b"x", content_type="text/plain").status == 415


def test_yaml_bodies_are_read(server: Server) -> None:
    text = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: 'y'}\n"
    assert server("POST", MAPS, text, content_type="application/yaml").json()["data"] == {"x": "y"}


def test_too_large_bodies_are_413() -> None:
    server = Server(max_request_bytes=1000)
    assert server("POST", MAPS, config_map("a", x="y" * 2000)).status == 413


def test_duplicate_fields_are_refused_when_strict_and_warned_of_otherwise(server: Server) -> None:
    body = b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"x":"1","x":"2"}}'
    assert server("POST", f"{MAPS}?fieldValidation=Strict", body).status == 400
    warned = server("POST", MAPS, body)
    assert warned.status == 201
    assert "duplicate field" in warned.header("warning")


def test_options_out_of_range_are_422(server: Server) -> None:
    for query in ("dryRun=Some", "fieldValidation=Maybe", "fieldManager=" + "x" * 200):
        assert server("POST", f"{MAPS}?{query}", config_map("a")).status == 422, query
    assert server("DELETE", f"{MAPS}/a", {"propagationPolicy": "Sideways"}).status == 422
