"""OpenAPI v2: paths, and definitions of custom resources as kubectl reads them."""

from seatrial.model.builtin import builtin_kinds
from seatrial.server.openapi.v2 import swagger
from seatrial.server.openapi.v2_definitions import custom_definition

TAG = "x-kubernetes-group-version-kind"
PRESERVES = "x-kubernetes-preserve-unknown-fields"
FOO = {TAG: [{"group": "example.com", "version": "v1", "kind": "Foo"}]}


def test_every_served_kind_has_paths() -> None:
    document = swagger(builtin_kinds(), {})
    item = document["paths"]["/api/v1/namespaces/{namespace}/pods/{name}"]
    assert item["patch"]["x-kubernetes-action"] == "patch"
    assert item["put"]["parameters"][0] == {
        "name": "body",
        "in": "body",
        "required": True,
        "schema": {"$ref": "#/definitions/io.k8s.api.core.v1.Pod"},
    }
    assert {"name": "namespace", "in": "path", "required": True, "type": "string", "uniqueItems": True} in item[
        "parameters"
    ]


def test_a_definition_that_keeps_unknown_fields_at_its_root_shows_none() -> None:
    schema = {"type": "object", PRESERVES: True, "properties": {"spec": {"type": "object"}}, **FOO}
    assert custom_definition(schema) == {"type": "object", **FOO}


def test_a_nullable_field_has_no_type_and_is_not_required() -> None:
    field = {"type": "object", "nullable": True, "properties": {"a": {"type": "string"}}}
    schema = {"type": "object", "required": ["spec"], "properties": {"spec": field}, **FOO}
    found = custom_definition(schema)
    assert found["properties"]["spec"] == {}
    assert "required" not in found


def test_an_embedded_object_that_keeps_unknown_fields_has_no_type() -> None:
    field = {"type": "object", PRESERVES: True, "properties": {"a": {"type": "string"}}}
    schema = {"type": "object", "properties": {"spec": field}, **FOO}
    assert custom_definition(schema)["properties"]["spec"] == {PRESERVES: True}


def test_value_validations_are_kept_and_defaults_dropped() -> None:
    field = {"type": "integer", "minimum": 3, "default": 4, "anyOf": [{"minimum": 3}]}
    schema = {"type": "object", "properties": {"spec": field}, **FOO}
    assert custom_definition(schema)["properties"]["spec"] == {"type": "integer", "minimum": 3}
