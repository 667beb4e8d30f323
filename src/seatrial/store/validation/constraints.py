"""Validation by the data file alone: required strings and enumerations.

For kinds without rules of their own. Upstream's validation is written by hand per kind; what holds for nearly all of
it is that a required text is refused when empty and an enumerated one when it is none of its values. Required numbers,
lists and structs are not checked: Go reads a missing one as zero, and most rules accept that. The status is skipped.
"""

from collections.abc import Iterator
from typing import Any

import orjson

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.model.schema import Field, Schema


def violations(schema: Schema, document: Document) -> list[Cause]:
    """The causes for which an object in canonical form is invalid."""
    return [
        cause
        for name, field in schema.fields.items()
        if name not in ("apiVersion", "kind", "metadata", "status")
        for cause in _field(field, document.get(name), name)
    ]


def _field(field: Field, value: Any, path: str) -> Iterator[Cause]:
    schema = field.schema
    if not value and schema.type == "string":
        if field.required:
            yield Cause(path, "Required value", "FieldValueRequired")
    elif value is not None:
        yield from _value(schema, value, path)


def _value(schema: Schema, value: Any, path: str) -> Iterator[Cause]:
    if schema.enum and isinstance(value, str) and value not in schema.enum:
        allowed = ", ".join(map(_quoted, schema.enum))
        message = f"Unsupported value: {_quoted(value)}: supported values: {allowed}"
        yield Cause(path, message, "FieldValueNotSupported")
    elif schema.items is not None:
        for index, item in enumerate(value):
            yield from _value(schema.items, item, f"{path}[{index}]")
    elif schema.values is not None:
        for key, item in value.items():
            yield from _value(schema.values, item, f"{path}[{key}]")
    elif schema.type == "object":
        for name, field in schema.fields.items():
            yield from _field(field, value.get(name), f"{path}.{name}")


def _quoted(text: str) -> str:
    return orjson.dumps(text).decode()
