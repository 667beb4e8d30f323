"""Validation of custom resources by their OpenAPI schema.

Most documents are valid, so jsonschema-rs checks them first; only what it refuses is walked here to report errors in
upstream's words. What JSON Schema cannot say (formats, unique list keys, embedded resources) is checked by a walk of
its own where the schema has any of it.

Upstream: kube-openapi/pkg/validation/validate, apiextensions-apiserver/pkg/apiserver/{validation,schema/listtype,
schema/objectmeta}.
"""

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import Any

import jsonschema_rs

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.model.regular_expressions import RegexError, regex
from seatrial.store.crd.formats import CHECKED_FORMATS, has_format
from seatrial.store.crd.list_types import list_causes, needs_list_checks
from seatrial.store.field_errors import (
    go_number,
    invalid,
    required,
    too_long,
    too_many,
    type_invalid,
    unsupported,
)

Schema = dict[str, Any]
_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", dict: "object", list: "array"}
_INT_RANGES = {"int32": 2**31, "int64": 2**63, "": 2**63}
_COMPOSED = ("allOf", "anyOf", "oneOf", "not")


class Validator:
    """Validates documents by a schema."""

    def __init__(self, openapi: Document) -> None:
        self._openapi = openapi

    @cached_property
    def _accepts(self) -> Callable[[Any], bool]:
        """A fast check; False only means that the slow walk must decide."""
        try:
            formats = {_pattern_format(text): regex(text).matches for text in sorted(_patterns(self._openapi))}
            formats |= {name: partial(has_format, name) for name in CHECKED_FORMATS}
            plain = _plain(self._openapi, root=True)
            return jsonschema_rs.Draft4Validator(plain, formats=formats, validate_formats=True).is_valid
        except ValueError:
            return lambda document: False

    @cached_property
    def _checks_lists(self) -> bool:
        return needs_list_checks(self._openapi)

    def causes(self, document: Document) -> list[Cause]:
        """The errors of a document."""
        found = [] if self._accepts(document) else list(walk(self._openapi, document, ""))
        if self._checks_lists:
            found += list_causes(self._openapi, document, "")
        return found


def walk(schema: Schema, value: Any, path: str) -> Iterator[Cause]:
    """The errors of a value, in upstream's order: type, compositions, text, number, list, enum, object."""
    yield from _type_causes(schema, value, path)
    if any(word in schema for word in _COMPOSED):
        yield from _composed_causes(schema, value, path)
    if isinstance(value, str):
        yield from _text_causes(schema, value, path)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield from _number_causes(schema, value, path)
    elif isinstance(value, list):
        yield from _list_causes(schema, value, path)
    if schema.get("enum") and not any(_equal(value, allowed) for allowed in schema["enum"]):
        yield unsupported(_field(path), value, map(_enum_text, schema["enum"]))
    if isinstance(value, dict):
        yield from _object_causes(schema, value, path)


def _type_causes(schema: Schema, value: Any, path: str) -> Iterator[Cause]:
    wanted = ("integer", "string") if schema.get("x-kubernetes-int-or-string") else (schema.get("type"),)
    if wanted == (None,) or wanted == ("",):
        return
    found = "null" if value is None else _TYPES.get(type(value), "")
    if found == "null" and schema.get("nullable"):
        return
    fits = (
        found in wanted
        or (found == "integer" and "number" in wanted)
        or (found == "number" and "integer" in wanted and value.is_integer())
    )
    if not fits:
        detail = f'{_name(path)} must be of type {",".join(str(each) for each in wanted)}: "{found}"'
        yield type_invalid(_field(path), found, detail)


def _composed_causes(schema: Schema, value: Any, path: str) -> Iterator[Cause]:
    quoted = f'"{path}"'
    if schema.get("anyOf"):
        failures = [list(walk(each, value, path)) for each in schema["anyOf"]]
        if all(failures):
            yield invalid("<nil>", "", f"{quoted} must validate at least one schema (anyOf)")
            yield from failures[0]
    if schema.get("oneOf"):
        failures = [list(walk(each, value, path)) for each in schema["oneOf"]]
        valid = sum(not each for each in failures)
        if valid != 1:
            how_many = f"Found {valid} valid alternatives" if valid else "Found none valid"
            yield invalid("<nil>", "", f"{quoted} must validate one and only one schema (oneOf). {how_many}")
            yield from failures[0] if not valid else ()
    if schema.get("allOf"):
        failures = [list(walk(each, value, path)) for each in schema["allOf"]]
        for each in failures:
            yield from each
        if any(failures):
            none = ". None validated" if all(failures) else ""
            yield invalid("<nil>", "", f"{quoted} must validate all the schemas (allOf){none}")
    if "not" in schema and not list(walk(schema["not"] or {}, value, path)):
        yield invalid("<nil>", "", f"{quoted} must not validate the schema (not)")


def _text_causes(schema: Schema, value: str, path: str) -> Iterator[Cause]:
    most, least = schema.get("maxLength"), schema.get("minLength")
    if most is not None and len(value) > most:
        yield too_long(_field(path), most)
    elif least is not None and len(value) < least:
        yield invalid(_field(path), value, f"{_name(path)} should be at least {least} chars long")
    elif schema.get("pattern") and not _matches(schema["pattern"], value):
        yield invalid(_field(path), value, f"{_name(path)} should match '{schema['pattern']}'")
    format_ = schema.get("format", "")
    if format_ and not has_format(format_, value):
        yield type_invalid(_field(path), value, f'{_name(path)} must be of type {format_}: "{value}"')


def _number_causes(schema: Schema, value: int | float, path: str) -> Iterator[Cause]:
    type_, format_ = schema.get("type"), schema.get("format", "")
    if type_ == "integer" and float(value).is_integer():
        format_ = format_ if format_ in ("int32", "int64") else ""
        limit = _INT_RANGES[format_]
        if not -limit <= value < limit:
            how = f"with format {format_}" if format_ else "(default format)"
            yield invalid("<nil>", "", f"Checked value must be of type {type_} {how} in {path}")
    multiple = schema.get("multipleOf")
    if multiple and value % multiple:
        yield invalid(_field(path), value, f"{_name(path)} should be a multiple of {go_number(float(multiple))}")
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is not None and (value < least or (schema.get("exclusiveMinimum") and value == least)):
        bound = "greater than" if schema.get("exclusiveMinimum") else "greater than or equal to"
        yield invalid(_field(path), value, f"{_name(path)} should be {bound} {go_number(float(least))}")
    if most is not None and (value > most or (schema.get("exclusiveMaximum") and value == most)):
        bound = "less than" if schema.get("exclusiveMaximum") else "less than or equal to"
        yield invalid(_field(path), value, f"{_name(path)} should be {bound} {go_number(float(most))}")


def _list_causes(schema: Schema, value: list[Any], path: str) -> Iterator[Cause]:
    items = schema.get("items")
    if isinstance(items, dict):
        for index, item in enumerate(value):
            yield from walk(items, item, f"{path}[{index}]")
    least, most = schema.get("minItems"), schema.get("maxItems")
    if least is not None and len(value) < least:
        yield invalid(_field(path), len(value), f"{_name(path)} should have at least {least} items")
    if most is not None and len(value) > most:
        yield too_many(_field(path), len(value), most)


def _object_causes(schema: Schema, value: Document, path: str) -> Iterator[Cause]:
    least, most = schema.get("minProperties"), schema.get("maxProperties")
    if least is not None and len(value) < least:
        yield invalid(_field(path), len(value), f"{_name(path)} should have at least {least} properties")
    if most is not None and len(value) > most:
        yield too_many(_field(path), len(value), most)
    properties, extra = schema.get("properties") or {}, schema.get("additionalProperties")
    for key, item in value.items():
        if key in properties:
            continue
        if extra is False:
            yield invalid(_field(path), key, f"{path}.{key} in body is a forbidden property")
        elif isinstance(extra, dict):
            yield from walk(extra, item, f"{path}.{key}")
    for key, known in properties.items():
        if key in value:
            yield from walk(known, value[key], f"{path}.{key}" if path else key)
    for key in schema.get("required") or ():
        if key not in value:
            yield required(_field(f"{path}.{key}"))


def _matches(expression: str, value: str) -> bool:
    try:
        return regex(expression).matches(value)
    except RegexError:
        return True


def _equal(value: Any, allowed: Any) -> bool:
    if isinstance(value, bool) or isinstance(allowed, bool):
        return value is allowed
    return bool(value == allowed)


def _enum_text(value: Any) -> str:
    return value if isinstance(value, str) else jsonschema_text(value)


def jsonschema_text(value: Any) -> str:
    """A value that is no text, as JSON."""
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _field(path: str) -> str:
    return path.removeprefix(".") or "<nil>"


def _name(path: str) -> str:
    return f"{path} in body"


def _patterns(schema: Any) -> set[str]:
    """The patterns of a schema and of all schemas inside it."""
    if isinstance(schema, list):
        return set().union(*map(_patterns, schema))
    if not isinstance(schema, dict):
        return set()
    inner = [schema.get(key) for key in ("items", "additionalProperties", *_COMPOSED)]
    inner += (schema.get("properties") or {}).values()
    return set().union(*map(_patterns, inner), {schema["pattern"]} if schema.get("pattern") else ())


def _pattern_format(expression: str) -> str:
    return f"pattern {expression}"


_KEPT = (
    "enum", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength", "minLength",
    "maxItems", "minItems", "maxProperties", "minProperties", "required",
)  # fmt: skip


def _plain(schema: Schema, *, root: bool = False) -> Schema:
    """The schema as JSON Schema (draft 4) has it."""
    result = {key: schema[key] for key in _KEPT if key in schema and schema[key] not in (None, [])}
    if schema.get("pattern"):
        # The library's own expressions backtrack and have another syntax: a pattern is checked by RE2, as a format.
        result["format"] = _pattern_format(schema["pattern"])
    if schema.get("format") in CHECKED_FORMATS:
        result["allOf"] = [{"format": schema["format"]}]
    types = ["integer", "string"] if schema.get("x-kubernetes-int-or-string") else [schema.get("type") or ""]
    if types != [""]:
        result["type"] = [*types, "null"] if schema.get("nullable") else types
        if types == ["integer"]:
            limit = _INT_RANGES.get(schema.get("format", ""), 2**63)
            result.setdefault("minimum", -limit)
            result.setdefault("maximum", limit - 1)
    if "properties" in schema:
        properties = {key: _plain(known) for key, known in (schema["properties"] or {}).items()}
        result["properties"] = properties
    for key in ("items", "additionalProperties", "not"):
        if isinstance(schema.get(key), dict):
            result[key] = _plain(schema[key])
        elif schema.get(key) is False:
            result[key] = False
    for key in ("allOf", "anyOf", "oneOf"):
        if schema.get(key):
            result[key] = [*result.get(key, ()), *(_plain(each) for each in schema[key])]
    return result
