"""MutatingAdmissionPolicies change the objects that they are bound to."""

from typing import Any

import pytest

from seatrial.server.admission import MutatingPolicyAdmission
from tests.server.client import Reply, Server

ROOT = "/apis/admissionregistration.k8s.io/v1"
MAPS = "/api/v1/namespaces/default/configmaps"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
RULES = [
    {
        "apiGroups": ["", "apps"],
        "apiVersions": ["v1"],
        "operations": ["CREATE", "UPDATE"],
        "resources": ["configmaps", "deployments"],
    }
]


@pytest.fixture
def server() -> Server:
    server = Server()
    server.store.admission = MutatingPolicyAdmission(server.store.admission, server.store)
    return server


def applied(expression: str) -> dict[str, Any]:
    return {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}}


def patched(expression: str) -> dict[str, Any]:
    return {"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}


def bind(server: Server, *mutations: dict[str, Any], name: str = "p", **policy: Any) -> None:
    spec = {
        "matchConstraints": {"resourceRules": RULES},
        "reinvocationPolicy": "Never",
        "mutations": list(mutations),
        **policy,
    }
    head = {"apiVersion": "admissionregistration.k8s.io/v1", "metadata": {"name": name}}
    made = server(
        "POST", f"{ROOT}/mutatingadmissionpolicies", {**head, "kind": "MutatingAdmissionPolicy", "spec": spec}
    )
    assert made.status == 201, made.body
    bound = {**head, "kind": "MutatingAdmissionPolicyBinding", "spec": {"policyName": name}}
    assert server("POST", f"{ROOT}/mutatingadmissionpolicybindings", bound).status == 201


def create(server: Server, **data: str) -> Reply:
    return server("POST", MAPS, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": data})


def test_a_partial_object_is_laid_over_the_object(server: Server) -> None:
    bind(server, applied('Object{metadata: Object.metadata{annotations: {"by": "policy"}}, data: {"b": "2"}}'))
    made = create(server, a="1").json()
    assert made["data"] == {"a": "1", "b": "2"}
    assert made["metadata"]["annotations"] == {"by": "policy"}


def test_lists_are_merged_by_their_keys(server: Server) -> None:
    sidecar = 'Object.spec.template.spec.containers{name: "mesh", image: "mesh:1"}'
    bind(
        server,
        applied(
            "Object{spec: Object.spec{replicas: 7, template: Object.spec.template{"
            f"spec: Object.spec.template.spec{{containers: [{sidecar}]}}}}}}}}"
        ),
    )
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"replicas": 1, "selector": {"matchLabels": {"a": "b"}}, "template": template}
    body = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": spec}
    made = server("POST", DEPLOYMENTS, body).json()
    assert made["spec"]["replicas"] == 7
    containers = made["spec"]["template"]["spec"]["containers"]
    assert sorted(container["name"] for container in containers) == ["c", "mesh"]
    assert all(container["terminationMessagePath"] for container in containers)


def test_an_atomic_part_is_refused(server: Server) -> None:
    bind(
        server,
        applied('Object{spec: Object.spec{selector: Object.spec.selector{matchLabels: {"a": "c"}}}}'),
        matchConditions=[{"name": "deployments", "expression": "object.kind == 'Deployment'"}],
    )
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    body = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": spec}
    refused = server("POST", DEPLOYMENTS, body)
    assert refused.status == 403
    assert "may not mutate atomic arrays, maps or structs: .spec.selector" in refused.json()["message"]
    assert create(server, a="1").status == 201


def test_a_json_patch_is_carried_out(server: Server) -> None:
    key = 'jsonpatch.escapeKey("example.com/by")'
    bind(
        server,
        patched(
            '[JSONPatch{op: "add", path: "/metadata/labels", value: {}}, '
            f'JSONPatch{{op: "add", path: "/metadata/labels/" + {key}, value: "policy"}}]'
        ),
    )
    assert create(server, a="1").json()["metadata"]["labels"] == {"example.com/by": "policy"}


def test_a_patch_whose_test_fails_changes_nothing(server: Server) -> None:
    bind(
        server,
        patched(
            '[JSONPatch{op: "test", path: "/data/a", value: "2"}, JSONPatch{op: "add", path: "/data/b", value: "2"}]'
        ),
    )
    assert create(server, a="1").json()["data"] == {"a": "1"}


def test_a_policy_that_fails_refuses_unless_it_is_ignored(server: Server) -> None:
    bind(server, applied('Object{data: {"b": object.data.missing}}'))
    refused = create(server, a="1")
    assert refused.status == 403
    assert refused.json()["reason"] == "Invalid"
    assert refused.json()["message"].startswith("policy 'p' with binding 'p' denied request: ")
    ignored = server("GET", f"{ROOT}/mutatingadmissionpolicies/p").json()
    ignored["spec"]["failurePolicy"] = "Ignore"
    assert server("PUT", f"{ROOT}/mutatingadmissionpolicies/p", ignored).status == 200
    assert create(server, a="1").json()["data"] == {"a": "1"}


def test_a_policy_sees_later_changes_where_it_is_repeated(server: Server) -> None:
    count = "has(object.data.count) ? object.data.count + 'x' : 'x'"
    bind(server, applied(f'Object{{data: {{"count": {count}}}}}'), name="a", reinvocationPolicy="IfNeeded")
    bind(server, applied('Object{data: {"b": "2"}}'), name="b")
    assert create(server, a="1").json()["data"] == {"a": "1", "b": "2", "count": "xx"}
