"""The error for a patch whose result cannot be decoded as its kind: 422 that shows the result, or the patch.

Upstream: applyPatchToCurrentObject of k8s.io/apiserver/pkg/endpoints/handlers/patch.go, and the texts of
k8s.io/apimachinery/pkg/runtime/converter.go for strategic merge patches.
"""

from typing import Any

import orjson

from seatrial.model.decoding import CannotHandle
from seatrial.model.documents import Document
from seatrial.model.errors import Invalid, StatusError
from seatrial.model.patches import go_text
from seatrial.model.schema import Schema
from seatrial.store.field_errors import invalid
from seatrial.store.options import Patch

_GO_KINDS = {dict: "map", list: "slice", str: "string", bool: "bool", int: "int64", float: "float64"}
_SCALARS = {"string": (str,), "boolean": (bool,), "integer": (int,), "number": (int, float)}


def refusal(patch: Patch, result: Document, error: CannotHandle, schema: Schema | None) -> StatusError:
    """The error for a patch after which the object cannot be decoded."""
    if patch.type == "strategic":
        why = restore_fault(schema, result) if schema is not None else None
        return _invalid(go_text(patch.body), why or error.why)
    if patch.type == "merge":
        result = _sorted_along(result, patch.body)
    else:
        for operation in patch.body:
            result = _sorted_path(result, _steps(operation))
    return _invalid(orjson.dumps(result).decode(), error.why)


def restore_fault(schema: Schema, value: Any) -> str | None:
    """Why a value cannot be put into a Go type, the first fault in the order of the type's fields."""
    if value is None:
        return None
    if schema.type == "object":
        if not isinstance(value, dict):
            return f"cannot restore struct from: {_GO_KINDS[type(value)]}"
        found = (restore_fault(field.schema, value.get(name)) for name, field in schema.fields.items())
    elif schema.type == "map":
        if not isinstance(value, dict):
            return f"cannot restore map from {_GO_KINDS[type(value)]}"
        found = (restore_fault(schema.values, each) for each in value.values() if schema.values is not None)
    elif schema.type == "array":
        if not isinstance(value, list):
            return f"cannot restore slice from {_GO_KINDS[type(value)]}"
        found = (restore_fault(schema.items, each) for each in value if schema.items is not None)
    else:
        wanted = _SCALARS.get(schema.type)
        if wanted is None or type(value) in wanted:
            return None
        return f"cannot convert {_GO_KINDS[type(value)]} to {schema.format or schema.type}"
    return next((fault for fault in found if fault), None)


def _invalid(shown: str, why: str) -> Invalid:
    cause = invalid("patch", shown, why)
    return Invalid(f' "" is invalid: {cause.field}: {cause.message}', causes=[cause])


def _sorted_along(value: Any, patch: Any) -> Any:
    """The merged value as Go writes it: objects that the patch reached into have sorted keys."""
    if not isinstance(value, dict) or not isinstance(patch, dict):
        return value
    return {key: _sorted_along(value[key], patch.get(key)) for key in sorted(value)}


def _sorted_path(value: Any, steps: list[str]) -> Any:
    if not isinstance(value, dict):
        return value
    first, rest = (steps[0], steps[1:]) if steps else ("", [])
    return {key: _sorted_path(value[key], rest) if key == first and rest else value[key] for key in sorted(value)}


def _steps(operation: Any) -> list[str]:
    path = operation.get("path", "") if isinstance(operation, dict) else ""
    return [step.replace("~1", "/").replace("~0", "~") for step in str(path).split("/")[1:]]
