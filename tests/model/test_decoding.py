"""Bodies are read as kube-apiserver reads them.

Tests: model/canonical.py, model/schema_errors.py
"""

import json
from typing import Any

import pytest

from seatrial.model.builtin import builtin_kinds
from seatrial.model.decoding import check, decode_body, prune
from seatrial.model.errors import BadRequest, StatusError
from seatrial.model.kinds import Kind
from seatrial.model.schema import schema_from_openapi
from tests.model.bodies import kind_of, recorded_bodies, without_nulls

POD = Kind("", "v1", "Pod", "pods")
HEAD = '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},'


@pytest.mark.parametrize(("body", "answer"), recorded_bodies("decoding"))
def test_a_body_is_read_as_the_real_server_reads_it(body: str, answer: dict[str, Any]) -> None:
    try:
        document, warnings = decode_body(kind_of(body), body.encode(), "Warn")
    except StatusError as error:
        assert answer.get("refusal", "nothing") in error.message
    else:
        assert warnings == answer.get("strict", [])
        assert without_nulls(document) == without_nulls(answer["decoded"])


def test_strict_refuses_unknown_and_duplicate_fields() -> None:
    with pytest.raises(BadRequest) as raised:
        decode_body(POD, (HEAD + '"spec":{"foo":1,"nodeName":"a","nodeName":"b"}}').encode())
    assert raised.value.message == (
        'Pod in version "v1" cannot be handled as a Pod: strict decoding error: '
        'unknown field "spec.foo", duplicate field "spec.nodeName"'
    )


def test_ignore_drops_unknown_fields_in_silence() -> None:
    document, warnings = decode_body(POD, (HEAD + '"spec":{"foo":1,"nodeName":"a"}}').encode(), "Ignore")
    assert (document["spec"], warnings) == ({"nodeName": "a"}, [])


def test_a_document_is_checked_like_a_body() -> None:
    document, warnings = check(POD, {"apiVersion": "v1", "kind": "Pod", "spec": {"foo": 1}}, "Warn")
    assert warnings == ['unknown field "spec.foo"']
    assert document == {"apiVersion": "v1", "kind": "Pod", "metadata": {}, "spec": {}, "status": {}}


def test_reading_twice_changes_nothing() -> None:
    for body, answer in recorded_bodies("decoding"):
        if "decoded" in answer:
            once, _ = decode_body(kind_of(body), body.encode(), "Ignore")
            again, _ = decode_body(kind_of(body), json.dumps(once).encode(), "Strict")
            assert once == again


@pytest.mark.parametrize(
    "spaced",
    [
        '"spec": {"nodeName" : "a", "hostname":"\\u0022:x"}}',
        '\n "spec"\t:\n{"nodeName":"a","hostname":"\\":x"}}',
    ],
)
def test_white_space_and_escapes_are_no_duplicates(spaced: str) -> None:
    document, _ = decode_body(POD, (HEAD + spaced).encode())
    assert document["spec"]["nodeName"] == "a"


def test_yaml_is_read_and_its_duplicates_are_told() -> None:
    body = b"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  name: b\n"
    _, warnings = decode_body(POD, body, "Warn", yaml=True)
    assert len(warnings) == 1
    assert "line 5" in warnings[0]
    with pytest.raises(BadRequest, match="strict decoding error"):
        decode_body(POD, body, "Strict", yaml=True)


@pytest.mark.parametrize(
    "body", [b"", b"{", b"nonsense", b'{"a":}', b"[" * 5000, b'{"spec":' * 900 + b"1" + b"}" * 900]
)
def test_what_is_no_document_is_a_bad_request(body: bytes) -> None:
    with pytest.raises(BadRequest):
        decode_body(POD, body)


def test_deep_schemas_are_refused_rather_than_overflow() -> None:
    kind = Kind("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions")
    schema: dict[str, Any] = {}
    for _ in range(400):
        schema = {"properties": {"a": schema}}
    document = {"spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": schema}}]}}
    with pytest.raises(BadRequest, match="exceeded max depth"):
        decode_body(kind, json.dumps(document).encode())


def test_every_kind_reads_an_empty_document() -> None:
    for kind in builtin_kinds():
        document, _ = check(kind, {"apiVersion": kind.api_version, "kind": kind.kind})
        assert document["kind"] == kind.kind


def test_a_custom_resource_is_pruned_by_its_schema() -> None:
    schema = schema_from_openapi(
        {
            "type": "object",
            "properties": {
                "spec": {
                    "type": "object",
                    "properties": {
                        "rules": {
                            "type": "array",
                            "items": {"type": "object", "properties": {"a": {"type": "string"}}},
                        },
                        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                    },
                }
            },
        },
        root=True,
    )
    document = {
        "metadata": {"name": "x", "foo": 1},
        "spec": {"rules": [{"a": "1", "b": 2}], "free": {"anything": 1}, "c": 3},
    }
    assert sorted(prune(schema, document)) == ["metadata.foo", "spec.c", "spec.rules[0].b"]
    assert document == {"metadata": {"name": "x"}, "spec": {"rules": [{"a": "1"}], "free": {"anything": 1}}}
