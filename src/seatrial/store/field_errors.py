"""Validation errors of a field, and the refusal that lists it, in upstream's words.

Upstream: k8s.io/apimachinery/pkg/util/validation/field/errors.go and pkg/api/errors (NewInvalid).
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any

import orjson

from seatrial.model.errors import Cause, Invalid
from seatrial.model.kinds import Kind


class Struct(dict[str, Any]):
    """A value whose keys are shown in their order, as Go shows the fields of a struct; those of a map are sorted."""


def invalid(path: str, value: Any, detail: str) -> Cause:
    """A value that breaks a rule."""
    return Cause(path, f"Invalid value: {shown(value)}{_tail(detail)}", "FieldValueInvalid")


def type_invalid(path: str, value: Any, detail: str) -> Cause:
    """A value of another type than the schema's."""
    return Cause(path, f"Invalid value: {shown(value)}{_tail(detail)}", "FieldValueTypeInvalid")


def required(path: str, detail: str = "") -> Cause:
    """A value that is missing."""
    return Cause(path, f"Required value{_tail(detail)}", "FieldValueRequired")


def unsupported(path: str, value: Any, allowed: Iterable[str]) -> Cause:
    """A value that is none of the allowed ones."""
    values = ", ".join(quoted(each) for each in allowed)
    return Cause(
        path, f"Unsupported value: {shown(value)}{_tail(f'supported values: {values}')}", "FieldValueNotSupported"
    )


def forbidden(path: str, detail: str) -> Cause:
    """A value that is not allowed here or now."""
    return Cause(path, f"Forbidden{_tail(detail)}", "FieldValueForbidden")


def duplicate(path: str, value: Any) -> Cause:
    """A value that is there twice."""
    return Cause(path, f"Duplicate value: {shown(value)}", "FieldValueDuplicate")


def too_long(path: str, most: int) -> Cause:
    """A text longer than its limit."""
    unit = "byte" if most == 1 else "bytes"
    return Cause(path, f"Too long: may not be more than {most} {unit}", "FieldValueTooLong")


def too_many(path: str, number: int, most: int) -> Cause:
    """A list or map with more entries than its limit."""
    items = "item" if most == 1 else "items"
    return Cause(path, f"Too many: {number}: must have at most {most} {items}", "FieldValueTooMany")


def not_found_value(path: str, value: Any) -> Cause:
    """A value that names something which is not there."""
    return Cause(path, f"Not found: {shown(value)}", "FieldValueNotFound")


def refusal(kind: Kind, name: str, causes: Sequence[Cause]) -> Invalid:
    """422: all that is wrong with an object, each text once."""
    texts = list(dict.fromkeys(f"{cause.field}: {cause.message}" for cause in causes))
    what = f"{kind.kind}.{kind.group}" if kind.group else kind.kind
    listed = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    text = f"{what} {quoted(name)} is invalid: {listed}"
    return Invalid(text, group=kind.group, kind=kind.kind, name=name, causes=causes)


def shown(value: Any) -> str:
    """A value as upstream prints it in an error."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, float):
        return go_number(value)
    ordered = isinstance(value, Struct) or (isinstance(value, list) and value and isinstance(value[0], Struct))
    return orjson.dumps(value, option=0 if ordered else orjson.OPT_SORT_KEYS).decode()


def quoted(text: str) -> str:
    """A text as Go's %q prints it."""
    return json.dumps(text, ensure_ascii=False)


def go_number(value: float) -> str:
    """A float as Go's %v prints it."""
    if value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    text = repr(value)
    mantissa, exponent, power = text.partition("e")
    if not exponent:
        return text
    sign = "-" if power.startswith("-") else "+"
    return f"{mantissa}e{sign}{power.lstrip('+-').rjust(2, '0')}"


def _tail(detail: str) -> str:
    return f": {detail}" if detail else ""
