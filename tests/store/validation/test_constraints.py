"""What the data file alone refuses."""

from typing import Any

from seatrial.model.schema import Schema, schema_for, schema_of
from seatrial.store.validation.constraints import violations
from tests.model.bodies import kind_of, recorded_bodies


def schema(api_version: str, kind: str) -> Schema:
    found = schema_for(api_version, kind)
    assert found is not None
    return found


def test_a_required_text_must_not_be_empty() -> None:
    causes = violations(schema("storage.k8s.io/v1", "StorageClass"), {"provisioner": ""})
    assert [(cause.field, cause.message, cause.reason) for cause in causes] == [
        ("provisioner", "Required value", "FieldValueRequired")
    ]


def test_an_enumerated_text_must_be_one_of_its_values() -> None:
    rule = {"operations": ["CREATE", "GUESS"]}
    configuration: dict[str, Any] = {
        "webhooks": [{"name": "w", "sideEffects": "None", "rules": [rule], "failurePolicy": "Hope"}]
    }
    causes = violations(schema("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"), configuration)
    assert [cause.field for cause in causes] == ["webhooks[0].rules[0].operations[1]", "webhooks[0].failurePolicy"]
    assert causes[1].message == 'Unsupported value: "Hope": supported values: "Fail", "Ignore"'


def test_missing_numbers_lists_and_structs_are_left_to_the_kind() -> None:
    assert violations(schema("rbac.authorization.k8s.io/v1", "ClusterRole"), {}) == []
    assert violations(schema("apps/v1", "ControllerRevision"), {}) == []


def test_the_status_is_not_looked_at() -> None:
    assert violations(schema("v1", "Pod"), {"status": {"phase": "Dreaming"}}) == []


def test_defaulted_objects_only_lack_what_their_author_left_out() -> None:
    for body, answer in recorded_bodies("defaults"):
        found = schema_of(kind_of(body))
        assert found is not None
        assert {cause.reason for cause in violations(found, answer["defaulted"])} <= {"FieldValueRequired"}
