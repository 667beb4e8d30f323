"""Shapes of configuration documents: which fields there are, of what type, and how an empty one is written.

One declaration serves strict decoding and writing. A field is written *always* (a Go field without omitempty), or
*omitted* when empty, or kept as a *pointer* is: whenever it was set, even to zero. A *nullable* one is a pointer
without omitempty, written as null where it was not set.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from seatrial.model.documents import Document
from seatrial.model.durations import format_duration, parse_duration

Writing = Literal["always", "omit", "pointer", "nullable"]


class WrongType(Exception):
    """A value that Go's decoder would refuse; it ends decoding at once."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """A single value: what a Go type accepts, and its zero."""

    go_type: str
    accepts: Callable[[Any], bool]
    zero: Any


@dataclass(frozen=True, slots=True)
class Listing:
    items: "Shape"


@dataclass(frozen=True, slots=True)
class Mapped:
    values: "Shape"


@dataclass(frozen=True, slots=True)
class Field:
    shape: "Shape"
    writing: Writing = "omit"


@dataclass(frozen=True, slots=True)
class Record:
    """A struct: its fields by wire name."""

    go_type: str
    fields: Mapping[str, Field] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Raw:
    """Any JSON value, kept as it is."""


Shape = Scalar | Listing | Mapped | Record | Raw


def _is_int(bits: int) -> Callable[[Any], bool]:
    limit = 1 << (bits - 1)
    return lambda value: type(value) is int and -limit <= value < limit


def _is_duration(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    try:
        parse_duration(value)
    except ValueError:
        return False
    return True


STRING = Scalar("string", lambda value: isinstance(value, str), "")
BOOL = Scalar("bool", lambda value: isinstance(value, bool), False)
INT32 = Scalar("int32", _is_int(32), 0)
INT64 = Scalar("int64", _is_int(64), 0)
FLOAT32 = Scalar("float32", lambda value: type(value) in (int, float), 0)
DURATION = Scalar("v1.Duration", _is_duration, "0s")
RAW = Raw()


def pointer(shape: Shape) -> Field:
    return Field(shape, "pointer")


def nullable(shape: Shape) -> Field:
    return Field(shape, "nullable")


def always(shape: Shape) -> Field:
    return Field(shape, "always")


def decode(shape: Shape, value: Any, path: str, unknown: list[str]) -> Any:
    """The value with its unknown fields named in `unknown` and nulls dropped; WrongType where Go could not read it."""
    match shape:
        case Record():
            return _decode_record(shape, value, path, unknown)
        case Listing():
            if not isinstance(value, list):
                raise WrongType(_mismatch(value, path, "[]" + _type_name(shape.items)))
            return [decode(shape.items, item, f"{path}[{index}]", unknown) for index, item in enumerate(value)]
        case Mapped():
            if not isinstance(value, dict):
                raise WrongType(_mismatch(value, path, "map[string]" + _type_name(shape.values)))
            return {key: decode(shape.values, item, f"{path}.{key}", unknown) for key, item in value.items()}
        case Scalar():
            if value is None:
                return shape.zero
            if not shape.accepts(value):
                raise WrongType(_mismatch(value, path, shape.go_type))
            return format_duration(parse_duration(value)) if shape is DURATION else value
        case Raw():
            return value


def _decode_record(shape: Record, value: Any, path: str, unknown: list[str]) -> Document:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise WrongType(_mismatch(value, path, shape.go_type))
    result: Document = {}
    for key, item in value.items():
        where = f"{path}.{key}" if path else key
        known = shape.fields.get(key)
        if known is None:
            unknown.append(f'unknown field "{where}"')
        elif item is not None or isinstance(known.shape, Raw):
            result[key] = decode(known.shape, item, where, unknown)
    return result


def _type_name(shape: Shape) -> str:
    match shape:
        case Record() | Scalar():
            return shape.go_type
        case Listing():
            return "[]" + _type_name(shape.items)
        case Mapped():
            return "map[string]" + _type_name(shape.values)
        case Raw():
            return "interface {}"


def _mismatch(value: Any, path: str, expected: str) -> str:
    if isinstance(value, bool):
        got = "bool"
    elif isinstance(value, int | float):
        got = f"number {value}" if expected.startswith("int") else "number"
    elif isinstance(value, str):
        got = "string"
    else:
        got = "array" if isinstance(value, list) else "object"
    return f"json: cannot unmarshal {got} into Go struct field {path} of type {expected}"


def write(shape: Shape, value: Any) -> Any:
    """The value as Go's encoder writes it: fields in their writing, keys sorted."""
    match shape:
        case Record():
            return _write_record(shape, value or {})
        case Listing():
            return [write(shape.items, item) for item in value]
        case Mapped():
            return {key: write(shape.values, value[key]) for key in sorted(value)}
        case _:
            return value


def _write_record(shape: Record, value: Document) -> Document:
    result: Document = {}
    for name, known in sorted(shape.fields.items()):
        item = value.get(name)
        match known.writing:
            case "always":
                result[name] = write(known.shape, item) if item is not None else _zero(known.shape)
            case "nullable" if item is None:
                result[name] = None
            case "pointer" | "nullable" if item is not None:
                result[name] = write(known.shape, item)
            case "omit" if item:
                result[name] = write(known.shape, item)
    return result


def _zero(shape: Shape) -> Any:
    match shape:
        case Scalar():
            return shape.zero
        case Record():
            return write(shape, {})
        case _:
            return None
