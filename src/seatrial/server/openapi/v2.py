"""OpenAPI v2, which kubectl still reads to validate a `List`: the schemas of v3 as definitions, in JSON and protobuf.

The protobuf form is gnostic's openapi.v2.Document (github.com/google/gnostic-models/openapiv2/OpenAPIv2.proto); the
numbers below are its field numbers. Only what is needed to know types and fields is written: definitions, no paths.
"""

from collections.abc import Iterable
from typing import Any

from seatrial.model.documents import Document, encode
from seatrial.model.kinds import Kind
from seatrial.model.openapi import group_versions, openapi_document
from seatrial.model.protobuf.wire import LENGTH, key, varint
from seatrial.server.openapi.v2_definitions import custom_definition
from seatrial.server.openapi.v2_paths import paths_of_v3

MEDIA = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
ASKED = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
_OLD, _NEW = "#/components/schemas/", "#/definitions/"
_EXTENSIONS = ("x-kubernetes-group-version-kind", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-int-or-string")


def swagger(kinds: Iterable[Kind], custom: dict[tuple[str, str], Document]) -> Document:
    """The paths and the definitions of all kinds."""
    definitions: Document = {}
    paths: Document = {}
    info: Document = {}
    for found in group_versions(kinds).values():
        document = openapi_document(found, custom)
        info = document["info"]
        own = {(kind.api_version, kind.kind) for kind in found if (kind.api_version, kind.kind) in custom}
        for name, schema in document["components"]["schemas"].items():
            definitions[name] = custom_definition(schema) if _gvk(schema) in own else _definition(schema)
        paths |= paths_of_v3(document["paths"])
    return {
        "swagger": "2.0",
        "info": info,
        "paths": dict(sorted(paths.items())),
        "definitions": dict(sorted(definitions.items())),
    }


def _gvk(schema: Document) -> tuple[str, str]:
    """The apiVersion and kind of a schema; empty where it is not that of a kind."""
    tag = next(iter(schema.get("x-kubernetes-group-version-kind") or ()), None)
    if tag is None:
        return "", ""
    return (f"{tag['group']}/{tag['version']}" if tag["group"] else tag["version"]), tag["kind"]


def _definition(schema: Document) -> Document:
    """A schema of v3 in the words of v2: no oneOf, and no siblings of a reference."""
    references = schema.get("allOf") or ()
    reference = schema.get("$ref") or next((part["$ref"] for part in references if "$ref" in part), None)
    if reference is not None:
        return {"$ref": reference.replace(_OLD, _NEW)}
    if "oneOf" in schema or "anyOf" in schema:
        return {"type": "string", **({"format": schema["format"]} if "format" in schema else {})}
    kept = {key: schema[key] for key in ("type", "format", "description", "required", *_EXTENSIONS) if key in schema}
    if isinstance(schema.get("properties"), dict):
        kept["properties"] = {name: _definition(part) for name, part in schema["properties"].items()}
    for name in ("items", "additionalProperties"):
        if isinstance(schema.get(name), dict):
            kept[name] = _definition(schema[name])
    return kept


def to_protobuf(document: Document) -> bytes:
    """The document as gnostic's message."""
    info = _text(1, document["info"]["title"]) + _text(2, document["info"]["version"])
    definitions = b"".join(_named(name, schema) for name, schema in document["definitions"].items())
    return _text(1, document["swagger"]) + _part(2, info) + _part(8, b"") + _part(9, definitions)


def _named(name: str, schema: Document) -> bytes:
    return _part(1, _text(1, name) + _part(2, _schema(schema)))


def _schema(schema: Document) -> bytes:
    parts = [
        _text(number, schema[name])
        for number, name in ((1, "$ref"), (2, "format"), (4, "description"))
        if schema.get(name)
    ]
    parts += [_text(19, name) for name in schema.get("required", ())]
    if "additionalProperties" in schema:
        parts.append(_part(21, _part(1, _schema(schema["additionalProperties"]))))
    if "type" in schema:
        parts.append(_part(22, _text(1, schema["type"])))
    if "items" in schema:
        parts.append(_part(23, _part(1, _schema(schema["items"]))))
    if "properties" in schema:
        parts.append(_part(25, b"".join(_named(name, part) for name, part in schema["properties"].items())))
    parts += [_part(31, _extension(name, schema[name])) for name in _EXTENSIONS if name in schema]
    return b"".join(parts)


def _extension(name: str, value: Any) -> bytes:
    # The value is YAML; JSON is YAML.
    return _text(1, name) + _part(2, _text(2, encode(value).decode()))


def _text(number: int, text: str) -> bytes:
    return _part(number, text.encode())


def _part(number: int, data: bytes) -> bytes:
    return key(number, LENGTH) + varint(len(data)) + data
