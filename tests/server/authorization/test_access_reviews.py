"""Access reviews: what is refused and why, and which action is reviewed."""

from typing import Any

import pytest

from seatrial.server.authorization.access_reviews import action, ignored_selectors
from tests.server.client import Server

ROOT = "/apis/authorization.k8s.io/v1"
PODS = {"verb": "get", "resource": "pods", "namespace": "default"}
PATH = {"path": "/healthz", "verb": "get"}


def review(server: Server, kind: str, spec: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    """What the server answers to a review."""
    document = {"apiVersion": "authorization.k8s.io/v1", "kind": kind, "metadata": metadata, "spec": spec}
    local = "/namespaces/default" if kind.startswith("Local") else ""
    answer: dict[str, Any] = server("POST", f"{ROOT}{local}/{kind.lower()}s", document).json()
    return answer


@pytest.mark.parametrize(
    ("kind", "spec", "metadata", "why"),
    [
        ("SelfSubjectAccessReview", {}, {}, "exactly one of nonResourceAttributes or resourceAttributes"),
        (
            "SelfSubjectAccessReview",
            {"resourceAttributes": PODS, "nonResourceAttributes": PATH},
            {},
            "cannot be specified in combination with resourceAttributes",
        ),
        ("SelfSubjectAccessReview", {"resourceAttributes": PODS}, {"name": "x"}, "metadata: Invalid value"),
        ("SubjectAccessReview", {"resourceAttributes": PODS}, {}, "at least one of user or group must be specified"),
        (
            "LocalSubjectAccessReview",
            {"resourceAttributes": {**PODS, "namespace": "other"}, "user": "ada"},
            {"namespace": "default"},
            "must match metadata.namespace",
        ),
        (
            "LocalSubjectAccessReview",
            {"nonResourceAttributes": PATH, "user": "ada"},
            {"namespace": "default"},
            "disallowed on this kind of request",
        ),
        (
            "LocalSubjectAccessReview",
            {"resourceAttributes": PODS, "user": "ada"},
            {"namespace": "default", "name": "x"},
            "must be empty except for namespace",
        ),
    ],
)
def test_a_review_that_is_not_valid_is_refused(
    kind: str, spec: dict[str, Any], metadata: dict[str, Any], why: str
) -> None:
    answer = review(Server(), kind, spec, **metadata)
    assert (answer.get("code"), answer.get("reason")) == (422, "Invalid")
    assert why in answer["message"]


def test_a_local_review_of_its_own_namespace_is_answered() -> None:
    spec = {"resourceAttributes": PODS, "groups": ["system:masters"]}
    answer = review(Server(), "LocalSubjectAccessReview", spec, namespace="default")
    assert answer["status"]["allowed"] is True


@pytest.mark.parametrize(
    ("selector", "causes"),
    [
        ({}, ["requirements"]),
        ({"rawSelector": "a=b", "requirements": [{"key": "a", "operator": "Exists"}]}, ["rawSelector"]),
        ({"requirements": [{"operator": "Exists"}]}, ["requirements[0].key"]),
        ({"requirements": [{"key": "a", "operator": "In"}]}, ["requirements[0].values"]),
        ({"requirements": [{"key": "a", "operator": "DoesNotExist", "values": ["b"]}]}, ["requirements[0].values"]),
        ({"requirements": [{"key": "a", "operator": "In", "values": ["b"]}]}, []),
        ({"rawSelector": "a=b"}, []),
    ],
)
def test_a_field_selector_needs_requirements_that_are_whole(selector: dict[str, Any], causes: list[str]) -> None:
    answer = review(Server(), "SelfSubjectAccessReview", {"resourceAttributes": {**PODS, "fieldSelector": selector}})
    fields = [cause["field"] for cause in answer.get("details", {}).get("causes", [])]
    assert fields == [f"spec.resourceAttributes.fieldSelector.{cause}" for cause in causes]


def test_only_a_field_selector_needs_a_key() -> None:
    selector = {"requirements": [{"operator": "Exists"}]}
    answer = review(Server(), "SelfSubjectAccessReview", {"resourceAttributes": {**PODS, "labelSelector": selector}})
    assert answer["status"]["allowed"] is True


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ({"labelSelector": {"rawSelector": "a in ("}}, "labelSelector ignored"),
        ({"fieldSelector": {"rawSelector": "a"}}, "fieldSelector ignored"),
        ({"labelSelector": {"rawSelector": "a=b"}}, ""),
        ({"labelSelector": {"requirements": [{"key": "a", "operator": "Like"}]}}, "labelSelector ignored"),
        ({"fieldSelector": {"requirements": [{"key": "a", "operator": "Exists"}]}}, "fieldSelector ignored"),
        (
            {
                "fieldSelector": {
                    "requirements": [
                        {"key": "a", "operator": "Exists"},
                        {"key": "a", "operator": "In", "values": ["b"]},
                    ]
                }
            },
            "fieldSelector partially ignored",
        ),
    ],
)
def test_a_selector_that_cannot_be_parsed_is_named(asked: dict[str, Any], text: str) -> None:
    said = ignored_selectors(asked)
    assert said == (f"spec.resourceAttributes.{text} due to parse error" if text else "")


def test_the_action_is_of_the_user_that_the_review_names() -> None:
    spec = {"user": "ada", "groups": ["g"], "uid": "7", "extra": {"k": ["v"]}, "resourceAttributes": PODS}
    reviewed = action(spec, None)
    assert (reviewed.user.name, reviewed.user.groups, reviewed.user.uid) == ("ada", ("g",), "7")
    assert (reviewed.verb, reviewed.resource, reviewed.namespace, reviewed.version) == ("get", "pods", "default", "*")
    assert reviewed.resource_request
    assert not action({"nonResourceAttributes": PATH}, reviewed.user).resource_request
