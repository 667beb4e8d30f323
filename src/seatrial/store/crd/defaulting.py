"""Defaults of a structural schema, and nulls where none are allowed.

A null in a field that is not nullable counts as absent: it is dropped, or replaced by the field's default.
Upstream: apiextensions-apiserver/pkg/apiserver/schema/defaulting.
"""

import orjson

from seatrial.model.documents import Document


def apply_defaults(schema: Document, value: object) -> None:
    """Fill in defaults, in place."""
    if isinstance(value, dict):
        properties = schema.get("properties") or {}
        extra = schema.get("additionalProperties")
        for key, known in properties.items():
            if "default" in known and _is_absent(value, key, known):
                value[key] = orjson.loads(orjson.dumps(known["default"]))
        for key in list(value):
            known = properties.get(key, extra if isinstance(extra, dict) else None)
            if known is None:
                continue
            if value[key] is None and not known.get("nullable"):
                if "default" in known:
                    value[key] = orjson.loads(orjson.dumps(known["default"]))
                elif not known.get("x-kubernetes-preserve-unknown-fields"):
                    del value[key]
                    continue
            apply_defaults(known, value[key])
    elif isinstance(value, list) and isinstance(items := schema.get("items"), dict):
        for index, item in enumerate(value):
            if item is None and not items.get("nullable") and "default" in items:
                value[index] = orjson.loads(orjson.dumps(items["default"]))
            apply_defaults(items, value[index])


def _is_absent(value: Document, key: str, schema: Document) -> bool:
    return key not in value or (value[key] is None and not schema.get("nullable"))
