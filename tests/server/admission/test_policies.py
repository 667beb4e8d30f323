from collections import Counter
from typing import Any

import pytest

from seatrial.server.admission.policies import PolicyAdmission
from seatrial.store.objects import Stored
from tests.server.client import Reply, Server

MAPS = "/api/v1/namespaces/default/configmaps"
ROOT = "/apis/admissionregistration.k8s.io/v1"
RULES = [
    {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["configmaps"]},
]


@pytest.fixture
def server() -> Server:
    server = Server()
    server.store.admission = PolicyAdmission(server.store.admission, server.store)
    return server


def bind(server: Server, policy: dict[str, Any], **binding: Any) -> None:
    """Create a policy and its binding."""
    spec = {"matchConstraints": {"resourceRules": RULES}, **policy}
    head = {"apiVersion": "admissionregistration.k8s.io/v1", "metadata": {"name": "p"}}
    body = {**head, "kind": "ValidatingAdmissionPolicy", "spec": spec}
    made = server("POST", f"{ROOT}/validatingadmissionpolicies", body)
    assert made.status == 201, made.body
    bound = {"policyName": "p", "validationActions": ["Deny"], **binding}
    body = {**head, "metadata": {"name": "b"}, "kind": "ValidatingAdmissionPolicyBinding", "spec": bound}
    assert server("POST", f"{ROOT}/validatingadmissionpolicybindings", body).status == 201


def create(server: Server, name: str, **data: str) -> Reply:
    return server("POST", MAPS, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data})


def test_a_false_validation_refuses_in_upstreams_words(server: Server) -> None:
    bind(server, {"validations": [{"expression": "size(object.data) < 2"}]})
    assert create(server, "small", x="1").status == 201
    refused = create(server, "large", x="1", y="2")
    assert refused.status == 422
    assert refused.json()["message"] == (
        "configmaps \"large\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: "
        "failed expression: size(object.data) < 2"
    )
    assert refused.json()["reason"] == "Invalid"


def test_message_expression_and_reason_are_the_policys(server: Server) -> None:
    rule = {
        "expression": "object.metadata.name != 'bad'",
        "messageExpression": "'not ' + object.metadata.name",
        "reason": "Forbidden",
    }
    bind(server, {"validations": [rule]})
    refused = create(server, "bad")
    assert refused.status == 403
    text = "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: not bad"
    assert refused.json()["details"]["causes"] == [{"message": text}]


def test_variables_and_parameters(server: Server) -> None:
    create(server, "limits", most="1")
    bind(
        server,
        {
            "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
            "variables": [{"name": "most", "expression": "int(params.data.most)"}],
            "validations": [{"expression": "size(object.data) <= variables.most"}],
        },
        paramRef={"name": "limits", "namespace": "default", "parameterNotFoundAction": "Deny"},
    )
    assert create(server, "a", x="1").status == 201
    assert create(server, "b", x="1", y="2").status == 422
    server("DELETE", f"{MAPS}/limits")
    assert "no params found" in create(server, "c", x="1").json()["message"]


def test_a_warning_does_not_refuse(server: Server) -> None:
    bind(server, {"validations": [{"expression": "false", "message": "hm"}]}, validationActions=["Warn"])
    answer = create(server, "a")
    assert answer.status == 201
    assert "with binding 'b': hm" in answer.header("warning")


def test_an_expression_that_fails_refuses_unless_that_is_ignored(server: Server) -> None:
    bind(server, {"validations": [{"expression": "object.data.missing == 'x'"}], "failurePolicy": "Ignore"})
    assert create(server, "a", x="1").status == 201
    policy = server("GET", f"{ROOT}/validatingadmissionpolicies/p").json()
    policy["spec"]["failurePolicy"] = "Fail"
    server("PUT", f"{ROOT}/validatingadmissionpolicies/p", policy)
    assert create(server, "b", x="1").status == 422


def test_a_policy_without_its_binding_says_nothing(server: Server) -> None:
    bind(server, {"validations": [{"expression": "false"}]})
    assert create(server, "a").status == 422
    server("DELETE", f"{ROOT}/validatingadmissionpolicybindings/b")
    assert create(server, "a").status == 201


def test_policies_are_decoded_once_for_many_requests(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    bind(server, {"validations": [{"expression": "true"}]})
    assert create(server, "a").status == 201
    read = Counter[str]()
    document = Stored.document

    def counted(stored: Stored) -> Any:
        read[stored.kind.kind] += 1
        return document(stored)

    monkeypatch.setattr(Stored, "document", counted)
    assert create(server, "b").status == 201
    assert not [kind for kind in read if "Policy" in kind]


def test_match_conditions_and_the_bindings_selector_narrow_a_policy(server: Server) -> None:
    bind(
        server,
        {
            "validations": [{"expression": "false"}],
            "matchConditions": [{"name": "n", "expression": "request.name.startsWith('x')"}],
        },
        matchResources={"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "default"}}},
    )
    assert create(server, "a").status == 201
    assert create(server, "x").status == 422


def test_what_must_be_there_is_required(server: Server) -> None:
    head = {"apiVersion": "admissionregistration.k8s.io/v1", "metadata": {"name": "p"}}
    body = {**head, "kind": "ValidatingAdmissionPolicy", "spec": {}}
    refused = server("POST", f"{ROOT}/validatingadmissionpolicies", body)
    fields = [cause["field"] for cause in refused.json()["details"]["causes"]]
    assert (refused.status, fields) == (422, ["spec.matchConstraints", "spec.validations", "spec.auditAnnotations"])
