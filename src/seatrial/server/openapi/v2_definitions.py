"""The schema of a custom resource as OpenAPI v2 shows it: without what kubectl of old could not read.

Upstream: apiextensions-apiserver/pkg/controller/openapi/v2/conversion.go, builder/builder.go (v1.36).
"""

from typing import Any

from seatrial.model.documents import Document
from seatrial.model.openapi import TYPE_META

PRESERVES = "x-kubernetes-preserve-unknown-fields"
EMBEDDED = "x-kubernetes-embedded-resource"
KIND_TAG = "x-kubernetes-group-version-kind"
_LEFT_OUT = frozenset({"allOf", "anyOf", "oneOf", "not", "nullable", "default", "$schema", "id"})
_META = {"$ref": "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}
_TYPE_META = {name: {"type": "string", "description": text} for name, text in TYPE_META.items()}


def custom_definition(schema: Document) -> Document:
    """The definition of a custom resource; one that keeps unknown fields shows none."""
    tag = {KIND_TAG: schema[KIND_TAG]}
    if schema.get(PRESERVES):
        return {"type": "object", **tag}
    found = _converted({key: value for key, value in schema.items() if key != KIND_TAG})
    return {**found, "properties": {**found.get("properties", {}), **_TYPE_META, "metadata": _META}, **tag}


def _converted(schema: Document) -> Document:
    kept: Document = {key: value for key, value in schema.items() if key not in _LEFT_OUT}
    if schema.get("nullable"):
        kept.pop("type", None)
    if schema.get("nullable") or schema.get(PRESERVES):
        kept.pop("items", None)
        kept.pop("properties", None)
    if kept.get("type") == "array" and "items" not in kept:
        del kept["type"]
    if schema.get(PRESERVES) and kept.get("type") == "object":
        del kept["type"]
    _drop_nullable_from_required(kept)
    if isinstance(kept.get("items"), dict):
        kept["items"] = _converted(kept["items"])
    if isinstance(kept.get("additionalProperties"), dict):
        kept["additionalProperties"] = _converted(kept["additionalProperties"])
    if isinstance(kept.get("properties"), dict):
        kept["properties"] = {name: _converted(part) for name, part in kept["properties"].items()}
    if schema.get(EMBEDDED) and not schema.get(PRESERVES):
        kept["properties"] = {**kept.get("properties", {}), **_TYPE_META, "metadata": _META}
        required = kept.get("required") or []
        kept["required"] = [*required, *(name for name in ("kind", "apiVersion") if name not in required)]
    return kept


def _drop_nullable_from_required(schema: Document) -> None:
    properties: dict[str, Any] = schema.get("properties") or {}
    required = [name for name in schema.get("required") or () if not properties.get(name, {}).get("nullable")]
    values = schema.get("additionalProperties")
    if isinstance(values, dict) and values.get("nullable"):
        required = []
    schema.pop("required", None)
    if required:
        schema["required"] = required
