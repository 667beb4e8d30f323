"""Bring a document into the form Go would write it in, if it fits its schema; a document that does not fit is a Misfit.

An API server reads JSON into Go structs and writes them back, which drops nulls and empty optional fields, adds the
zero values of fields that are always written (`resources: {}`, `creationTimestamp: null`) and spells quantities and
times one way. The walk here does that in place with one function per type, made on first use, and gives up at the
first oddity: saying what is wrong, in upstream's words, is the business of `misfits`. Nil lists and maps, which Go
writes as null, are left out, so that readers need not expect a null where a list belongs.
"""

import binascii
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from seatrial.model.quantity import QuantityError, canonical_quantity
from seatrial.model.schema import Field, Schema, schema_named
from seatrial.model.times import parse_time, to_micro_time, to_time

Walk = Callable[[Any], Any]
"""Takes a value and returns its canonical form: the same object if changed in place, DROP if it is left out."""

DROP = object()
SCHEMA_PROPS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps"
_INT32 = 1 << 31
_TYPES = {"string": str, "boolean": bool, "integer": int}
_PLAIN = frozenset(_TYPES.values())
# Elements that need no look: any string where strings belong, and null where it is a value.
_PLAIN_ELEMENTS = {"string": str, "json": type(None), "time": type(None), "microTime": type(None)}
_CAN_BE_EMPTY = ("string", "integer", "number", "boolean", "array", "map", "bytes")
_ZERO_TIME = "0001-01-01T00:00:00Z"
_objects: dict[Schema, Walk] = {}


class Misfit(Exception):
    """A document that its schema does not fit; it may have been changed up to there."""


def canonicalise(schema: Schema, document: Any) -> Any:
    """The canonical form of a document, worked out in place; Misfit where types or fields are wrong."""
    try:
        return _walk(schema)(document)
    except RecursionError:
        raise Misfit from None


def zero(schema: Schema) -> Any:
    """The JSON that Go writes for an empty struct."""
    return canonicalise(schema, {})


def canonical_time(text: Any) -> str | None:
    """A metav1.Time as it is written: whole seconds, UTC, null for the zero time."""
    if type(text) is not str:
        raise Misfit
    try:
        if len(text) == 20 and text[10] == "T" and text[19] == "Z" and text[4] == text[7] == "-":
            datetime.fromisoformat(text)
            return None if text == _ZERO_TIME else text
        return to_time(parse_time(text))
    except ValueError:
        raise Misfit from None


def canonical_micro_time(text: Any) -> str | None:
    """A metav1.MicroTime as it is written: six digits, UTC, null for the zero time."""
    if type(text) is not str or len(text) < 27 or text[19] != "." or not text[20:26].isdigit() or text[26].isdigit():
        raise Misfit
    try:
        written = to_micro_time(parse_time(text))
    except ValueError:
        raise Misfit from None
    return None if written.startswith(_ZERO_TIME[:-1]) else written


def _walk(schema: Schema) -> Walk:
    """The walk of a type. Types may contain themselves: an object's walk is known before its fields are."""
    match schema.type:
        case "object":
            return _objects.get(schema) or _object(schema)
        case "array":
            return _elements(schema.items, list, enumerate)
        case "map":
            return _elements(schema.values, dict, dict.items)
        case "integer":
            return _INTEGERS[schema.format]
        case kind:
            return _SCALAR_WALKS[kind]


def _object(schema: Schema) -> Walk:
    quick: dict[str, Any] = {}
    careful: dict[str, Walk] = {}
    always: list[tuple[str, Callable[[], Any]]] = []
    preserves = schema.preserves_unknown

    def walk(document: Any) -> Any:
        if type(document) is not dict:
            raise Misfit
        changed: dict[str, Any] | None = None
        for name, value in document.items():
            step = quick.get(name)
            if value:
                if type(value) is step and (step is not int or -_INT32 <= value < _INT32):
                    continue
                if step in _PLAIN:
                    step = careful[name]
            else:
                step = careful.get(name)
            if step is None:
                if preserves:
                    continue
                raise Misfit
            result = step(value)
            if result is not value:
                changed = changed or {}
                changed[name] = result
        if changed is not None:
            _replace(document, changed)
        for name, make in always:
            if name not in document:
                document[name] = make()
        return document

    _objects[schema] = walk
    for name, field in schema.fields.items():
        inner = _walk(field.schema)
        careful[name] = _careful(field, inner)
        quick[name] = _TYPES.get(field.schema.type, inner)
        if (make := _always(field)) is not None:
            always.append((name, make))
    return walk


def _replace(document: dict[str, Any], changed: dict[str, Any]) -> None:
    for name, value in changed.items():
        if value is DROP:
            del document[name]
        else:
            document[name] = value


def _careful(field: Field, walk: Walk) -> Walk:
    """The walk of a field that may be empty: null is dropped, and so is an empty value where Go omits it."""
    keeps = field.pointer or not field.omit_empty or field.schema.type not in _CAN_BE_EMPTY
    written_as_null = field.schema.type in ("time", "microTime") and _always(field) is not None

    def step(value: Any) -> Any:
        if value is None:
            return None if written_as_null else DROP
        value = walk(value)
        return value if keeps or value else DROP

    return step


def _always(field: Field) -> Callable[[], Any] | None:
    """What Go writes where the field is not given, if it writes anything; nil lists and maps are left out here."""
    if field.pointer or field.omit_zero:
        return None
    schema = field.schema
    match schema.type:
        case "object" if schema.name:
            return lambda: zero(schema)
        case "time" | "microTime":
            return lambda: None
        case "quantity":
            return lambda: "0"
        case "intOrString":
            return lambda: 0
        case "string" | "integer" | "number" | "boolean" if not field.omit_empty and field.go_type:
            return _ZEROS[schema.type]
    return None


_ZEROS: dict[str, Callable[[], Any]] = {
    "string": lambda: "",
    "integer": lambda: 0,
    "number": lambda: 0,
    "boolean": lambda: False,
}


def _elements(schema: Schema | None, kind: Any, pairs: Callable[[Any], Iterable[Any]]) -> Walk:
    """The walk of a list or map, whose elements have the schema."""
    assert schema is not None
    item = _walk(schema)
    plain = _PLAIN_ELEMENTS.get(schema.type)

    def walk(values: Any) -> Any:
        if type(values) is not kind:
            raise Misfit
        for key, value in pairs(values):
            if type(value) is plain:
                continue
            if value is None:
                raise Misfit
            result = item(value)
            if result is not value:
                values[key] = result
        return values

    return walk


def _exactly(kind: type) -> Walk:
    def walk(value: Any) -> Any:
        if type(value) is not kind:
            raise Misfit
        return value

    return walk


def _integer(bits: int) -> Walk:
    largest = 1 << bits

    def walk(value: Any) -> Any:
        if type(value) is not int or not -largest <= value < largest:
            raise Misfit
        return value

    return walk


_INTEGERS = {"int32": _integer(31), "int64": _integer(63), "": _integer(63)}


def _number(value: Any) -> Any:
    if type(value) is float:
        return int(value) if value.is_integer() and abs(value) < 1e15 else value
    if type(value) is not int:
        raise Misfit
    return value


def _quantity(value: Any) -> Any:
    kind = type(value)
    if kind is not str and kind is not int and (kind is not float or value.is_integer()):
        # For 1e3 and 1.0 only the text determines how they are written back.
        raise Misfit
    try:
        written = canonical_quantity(value)
    except QuantityError:
        raise Misfit from None
    return value if written == value else written


def _int_or_string(value: Any) -> Any:
    return value if type(value) is str else _INTEGERS["int32"](value)


def _bytes(value: Any) -> Any:
    if type(value) is not str:
        raise Misfit
    try:
        binascii.a2b_base64(value, strict_mode=True)
    except ValueError:
        raise Misfit from None
    return value


def _anything(value: Any) -> Any:
    return value


def _schema_or_bool(value: Any) -> Any:
    return value if type(value) is bool else _walk(schema_named(SCHEMA_PROPS))(value)


def _schema_or_array(value: Any) -> Any:
    schema = schema_named(SCHEMA_PROPS)
    return _walk(Schema("array", items=schema) if type(value) is list else schema)(value)


def _schema_or_strings(value: Any) -> Any:
    if type(value) is list:
        return _STRINGS(value)
    return _walk(schema_named(SCHEMA_PROPS))(value)


_SCALAR_WALKS: dict[str, Walk] = {
    "string": _exactly(str),
    "boolean": _exactly(bool),
    "number": _number,
    "quantity": _quantity,
    "intOrString": _int_or_string,
    "time": canonical_time,
    "microTime": canonical_micro_time,
    "duration": _exactly(str),
    "bytes": _bytes,
    "raw": _anything,
    "json": _anything,
    "fieldsV1": _anything,
    "schemaOrBool": _schema_or_bool,
    "schemaOrArray": _schema_or_array,
    "schemaOrStrings": _schema_or_strings,
}
_STRINGS = _elements(Schema("string"), list, enumerate)
