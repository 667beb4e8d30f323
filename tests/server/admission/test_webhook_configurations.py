"""Configurations of admission webhooks that cannot work are refused, in upstream's words."""

from typing import Any

import pytest

from tests.server.admission.webhook_server import configuration, webhook
from tests.server.client import Reply, Server

URL = {"url": "https://127.0.0.1:1/"}
RULE: dict[str, Any] = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}


def create(kind: str, *webhooks: dict[str, Any]) -> Reply:
    path = f"/apis/admissionregistration.k8s.io/v1/{kind.lower()}webhookconfigurations"
    return Server()("POST", path, configuration(kind, *webhooks))


def condition(name: str, expression: str) -> dict[str, Any]:
    return {"matchConditions": [{"name": name, "expression": expression}]}


@pytest.mark.parametrize("kind", ["Validating", "Mutating"])
@pytest.mark.parametrize(
    ("change", "field", "text"),
    [
        ({"name": "short"}, "name", "three segments"),
        ({"name": ""}, "name", "Required value"),
        ({"clientConfig": {}}, "clientConfig", "exactly one of url or service is required"),
        ({"clientConfig": {"url": "http://h"}}, "clientConfig.url", "'https' is the only allowed URL scheme"),
        ({"sideEffects": "Some"}, "sideEffects", 'supported values: "None", "NoneOnDryRun"'),
        ({"sideEffects": None}, "sideEffects", "must specify one of None, NoneOnDryRun"),
        ({"failurePolicy": "Maybe"}, "failurePolicy", 'supported values: "Fail", "Ignore"'),
        ({"matchPolicy": "Maybe"}, "matchPolicy", 'supported values: "Equivalent", "Exact"'),
        ({"timeoutSeconds": 31}, "timeoutSeconds", "between 1 and 30 seconds"),
        ({"admissionReviewVersions": []}, "admissionReviewVersions", "must specify one of v1, v1beta1"),
        ({"admissionReviewVersions": ["v9"]}, "admissionReviewVersions", "must include at least one of v1, v1beta1"),
        (
            {"rules": [RULE | {"operations": ["*", "CREATE"]}]},
            "rules[0].operations",
            "must not specify other operations",
        ),
        ({"rules": [RULE | {"operations": ["EAT"]}]}, "rules[0].operations[0]", "Unsupported value"),
        ({"rules": [RULE | {"resources": ["*", "pods"]}]}, "rules[0].resources", "must not specify other resources"),
        ({"rules": [RULE | {"resources": ["pods/*", "pods/log"]}]}, "rules[0].resources[1]", "if 'pods/*' is present"),
        ({"rules": [RULE | {"scope": "Here"}]}, "rules[0].scope", "Unsupported value"),
        (condition("a", "... []bad expression"), "matchConditions[0].expression", "compilation failed"),
        (condition("a", "params.x"), "matchConditions[0].expression", "compilation failed"),
        (condition("a b", "true"), "matchConditions[0].name", "Invalid value"),
    ],
)
def test_a_bad_webhook_is_refused(kind: str, change: dict[str, Any], field: str, text: str) -> None:
    refused = create(kind, webhook("w.example.com", URL) | change)
    assert refused.status == 422
    causes = refused.json()["details"]["causes"]
    assert [cause["field"] for cause in causes] == [f"webhooks[0].{field}"]
    assert text in causes[0]["message"]


def test_two_webhooks_of_one_name_are_refused() -> None:
    refused = create("Mutating", *[webhook("w.example.com", URL)] * 2)
    assert [cause["field"] for cause in refused.json()["details"]["causes"]] == ["webhooks[1].name"]


def test_a_webhook_with_a_match_condition_is_taken() -> None:
    assert create("Validating", webhook("w.example.com", URL) | condition("a", "object.kind == 'Pod'")).status == 201
