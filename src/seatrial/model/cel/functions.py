"""CEL's standard functions and the extensions Kubernetes switches on: strings, lists, sets, regular expressions.

Each function is declared with the types of its arguments (the target of a member call comes first); `call` picks the
overload by the values' types, and the error for none fitting is cel-go's.
"""

import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Mapping
from itertools import islice, pairwise
from typing import TypeVar

from seatrial.model.cel.errors import CelError
from seatrial.model.cel.times import duration_of, show_duration, show_timestamp, timestamp_of
from seatrial.model.cel.values import (
    INT_MAX,
    INT_MIN,
    NO_OVERLOAD,
    NONE,
    UINT_MAX,
    Duration,
    Optional,
    Timestamp,
    TypeValue,
    UInt,
    add,
    bounded_timestamp,
    compare,
    contains,
    equal,
    show,
    type_of,
)
from seatrial.model.regular_expressions import Regex, RegexError, regex

Function = Callable[..., object]
Body = TypeVar("Body", bound=Function)
PLAIN = frozenset(("startsWith", "endsWith", "contains", "matches"))
"""Functions whose error does not name them."""
OVERLOADS: dict[str, list[tuple[tuple[str, ...], Function]]] = {}


def function(name: str, *types: str) -> Callable[[Body], Body]:
    """Declares an overload."""

    def declare(body: Body) -> Body:
        OVERLOADS.setdefault(name, []).append((types, body))
        return body

    return declare


def call(name: str, arguments: tuple[object, ...]) -> object:
    """Calls the overload that fits the arguments."""
    for types, body in OVERLOADS[name]:
        if len(types) == len(arguments) and all(
            wanted == "dyn" or wanted == type_of(argument) for wanted, argument in zip(types, arguments, strict=True)
        ):
            return body(*arguments)
    if name in PLAIN:
        raise CelError(NO_OVERLOAD)
    if name == "size":
        raise CelError(f"{NO_OVERLOAD}: {name}")
    raise CelError(f"{NO_OVERLOAD}: {name}({', '.join(type_of(argument) for argument in arguments)})")


def pattern(text: str) -> Regex:
    """A compiled regular expression; what RE2 refuses is an error of the evaluation."""
    try:
        return regex(text)
    except RegexError as problem:
        raise CelError(str(problem)) from problem


# Sizes, types and conversions.


@function("size", "string")
@function("size", "bytes")
@function("size", "list")
@function("size", "map")
def size(value: str | bytes | list[object] | Mapping[str, object]) -> int:
    return len(value)


@function("type", "dyn")
def type_value(value: object) -> TypeValue:
    return TypeValue(type_of(value))


@function("dyn", "dyn")
def dyn(value: object) -> object:
    return value


@function("bool", "bool")
@function("bool", "string")
def to_bool(value: bool | str) -> bool:
    if isinstance(value, bool):
        return value
    if value in ("1", "t", "T", "true", "TRUE", "True"):
        return True
    if value in ("0", "f", "F", "false", "FALSE", "False"):
        return False
    raise CelError("type conversion error from 'string' to 'bool'")


@function("int", "int")
@function("int", "uint")
@function("int", "double")
@function("int", "string")
@function("int", "google.protobuf.Timestamp")
@function("int", "google.protobuf.Duration")
def to_int(value: object) -> int:
    if isinstance(value, Timestamp):
        return value.nanos // 10**9
    if isinstance(value, Duration):
        return value.nanos
    if isinstance(value, str):
        number = int(value) if re.fullmatch(r"[+-]?[0-9]{1,99}", value) else INT_MAX + 1
        if not INT_MIN <= number <= INT_MAX:
            raise CelError("type conversion error from 'string' to 'int'")
        return number
    if isinstance(value, float) and not INT_MIN < value < INT_MAX:
        raise CelError("integer overflow")
    number = int(value)  # type: ignore[call-overload]
    if number > INT_MAX:
        raise CelError("integer overflow")
    return int(number)


@function("uint", "uint")
@function("uint", "int")
@function("uint", "double")
@function("uint", "string")
def to_uint(value: object) -> UInt:
    if isinstance(value, str) and (not re.fullmatch(r"[0-9]{1,99}", value) or int(value) > UINT_MAX):
        raise CelError("type conversion error from 'string' to 'uint'")
    if isinstance(value, float) and not 0 <= value <= UINT_MAX:
        raise CelError("unsigned integer overflow")
    number = int(value)  # type: ignore[call-overload]
    if not 0 <= number <= UINT_MAX:
        raise CelError("unsigned integer overflow")
    return UInt(number)


@function("double", "double")
@function("double", "int")
@function("double", "uint")
@function("double", "string")
def to_double(value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except ValueError as problem:
        raise CelError("type conversion error from 'string' to 'double'") from problem


@function("string", "dyn")
def to_string(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError as problem:
            raise CelError("invalid UTF-8 in bytes, cannot convert to string") from problem
    if isinstance(value, Timestamp):
        return show_timestamp(value)
    if isinstance(value, Duration):
        return show_duration(value)
    if isinstance(value, bool | int | float):
        return show(value)
    shown = getattr(value, "text", None)
    if shown is not None:
        return str(shown())
    raise CelError(f"{NO_OVERLOAD}: string({type_of(value)})")


@function("bytes", "bytes")
@function("bytes", "string")
def to_bytes(value: bytes | str) -> bytes:
    return value.encode() if isinstance(value, str) else value


function("timestamp", "string")(timestamp_of)
function("timestamp", "google.protobuf.Timestamp")(dyn)
function("timestamp", "int")(lambda seconds: bounded_timestamp(seconds * 10**9))
function("duration", "string")(duration_of)
function("duration", "google.protobuf.Duration")(dyn)
function("duration", "int")(Duration)


# Strings (ext.Strings version 2) and regular expressions (Kubernetes' find and findAll).


@function("contains", "string", "string")
def string_contains(text: str, part: str) -> bool:
    return part in text


function("startsWith", "string", "string")(str.startswith)
function("endsWith", "string", "string")(str.endswith)


@function("matches", "string", "string")
def matches(text: str, expression: str) -> bool:
    return pattern(expression).matches(text)


@function("find", "string", "string")
def regex_find(text: str, expression: str) -> str:
    return next(pattern(expression).find(text), "")


@function("findAll", "string", "string")
@function("findAll", "string", "string", "int")
def regex_find_all(text: str, expression: str, limit: int = -1) -> list[object]:
    found = pattern(expression).find(text)
    return list(found if limit < 0 else islice(found, limit))


@function("charAt", "string", "int")
def char_at(text: str, position: int) -> str:
    if not 0 <= position <= len(text):
        raise CelError(f"index out of range: {position}")
    return text[position : position + 1]


@function("indexOf", "string", "string")
@function("indexOf", "string", "string", "int")
def index_of(text: str, part: str, start: int = 0) -> int:
    if start < 0:
        raise CelError(f"index out of range: {start}")
    return text.find(part, start) if start < len(text) or not part else -1


@function("lastIndexOf", "string", "string")
@function("lastIndexOf", "string", "string", "int")
def last_index_of(text: str, part: str, end: int | None = None) -> int:
    if end is None:
        return text.rfind(part)
    if end < 0:
        raise CelError(f"index out of range: {end}")
    return text.rfind(part, 0, end + len(part)) if end < len(text) or not part else -1


@function("lowerAscii", "string")
def lower_ascii(text: str) -> str:
    return "".join(chr(ord(c) + 32) if "A" <= c <= "Z" else c for c in text)


@function("upperAscii", "string")
def upper_ascii(text: str) -> str:
    return "".join(chr(ord(c) - 32) if "a" <= c <= "z" else c for c in text)


@function("replace", "string", "string", "string")
@function("replace", "string", "string", "string", "int")
def replace(text: str, old: str, new: str, count: int = -1) -> str:
    return text.replace(old, new, count)


@function("split", "string", "string")
@function("split", "string", "string", "int")
def split(text: str, separator: str, limit: int = -1) -> list[object]:
    if limit == 0:
        return []
    parts: list[object] = list(text) if separator == "" else list(text.split(separator, -1 if limit < 0 else limit - 1))
    if separator == "" and 0 < limit < len(parts):
        return [*parts[: limit - 1], text[limit - 1 :]]
    return parts


@function("substring", "string", "int")
@function("substring", "string", "int", "int")
def substring(text: str, start: int, end: int | None = None) -> str:
    stop = len(text) if end is None else end
    if end is not None and start > stop:
        raise CelError(f"invalid substring range. start: {start}, end: {stop}")
    if not 0 <= start <= len(text):
        raise CelError(f"index out of range: {start}")
    if not 0 <= stop <= len(text):
        raise CelError(f"index out of range: {stop}")
    return text[start:stop]


@function("trim", "string")
def trim(text: str) -> str:
    return text.strip()


@function("join", "list")
@function("join", "list", "string")
def join(items: list[object], separator: str = "") -> str:
    if not all(isinstance(item, str) for item in items):
        raise CelError(f"join: invalid input: {next(show(item) for item in items if not isinstance(item, str))}")
    return separator.join(map(str, items))


@function("strings.quote", "string")
def quote(text: str) -> str:
    escapes = {
        "\a": "\\a",
        "\b": "\\b",
        "\f": "\\f",
        "\n": "\\n",
        "\r": "\\r",
        "\t": "\\t",
        "\v": "\\v",
        "\\": "\\\\",
        '"': '\\"',
    }
    return '"' + "".join(escapes.get(c, c) for c in text) + '"'


@function("base64.encode", "bytes")
def base64_encode(value: bytes) -> str:
    return b64encode(value).decode()


@function("base64.decode", "string")
def base64_decode(text: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except ValueError as problem:
        raise CelError("illegal base64 data at input byte 0") from problem


# Lists (Kubernetes' and ext.Lists version 3) and sets.


def _extreme(items: list[object], wanted: int, name: str) -> object:
    if not items:
        raise CelError(f"{name} called on empty list")
    best = items[0]
    for item in items[1:]:
        if compare(item, best) == wanted:
            best = item
    return best


function("min", "list")(lambda items: _extreme(items, -1, "min"))
function("max", "list")(lambda items: _extreme(items, 1, "max"))


@function("sum", "list")
def total(items: list[object]) -> object:
    result: object = items[0] if items else 0
    for item in items[1:]:
        result = add(result, item)
    return result


@function("isSorted", "list")
def is_sorted(items: list[object]) -> bool:
    return all(compare(a, b) <= 0 for a, b in pairwise(items))


@function("indexOf", "list", "dyn")
def list_index_of(items: list[object], wanted: object) -> int:
    return next((i for i, item in enumerate(items) if equal(item, wanted)), -1)


@function("lastIndexOf", "list", "dyn")
def list_last_index_of(items: list[object], wanted: object) -> int:
    return next((i for i in range(len(items) - 1, -1, -1) if equal(items[i], wanted)), -1)


@function("slice", "list", "int", "int")
def list_slice(items: list[object], start: int, end: int) -> list[object]:
    if start < 0 or end < 0:
        raise CelError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise CelError(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if end > len(items):
        raise CelError(f"cannot slice({start}, {end}), list is length {len(items)}")
    return items[start:end]


@function("flatten", "list")
@function("flatten", "list", "int")
def flatten(items: list[object], depth: int = 1) -> list[object]:
    if depth < 0:
        raise CelError("level must be non-negative")
    flat: list[object] = []
    for item in items:
        flat.extend(flatten(item, depth - 1) if isinstance(item, list) and depth > 0 else [item])
    return flat


@function("reverse", "list")
def list_reverse(items: list[object]) -> list[object]:
    return items[::-1]


@function("distinct", "list")
def distinct(items: list[object]) -> list[object]:
    unique: list[object] = []
    for item in items:
        if not any(equal(item, seen) for seen in unique):
            unique.append(item)
    return unique


@function("sort", "list")
def sort(items: list[object]) -> list[object]:
    ordered: list[object] = []
    for item in items:
        place = next((i for i, other in enumerate(ordered) if compare(item, other) < 0), len(ordered))
        ordered.insert(place, item)
    return ordered


@function("first", "list")
def first(items: list[object]) -> Optional:
    return Optional(items[0], True) if items else NONE


@function("last", "list")
def last(items: list[object]) -> Optional:
    return Optional(items[-1], True) if items else NONE


@function("lists.range", "int")
def list_range(count: int) -> list[object]:
    return list(range(count))


@function("sets.contains", "list", "list")
def sets_contains(items: list[object], wanted: Iterable[object]) -> bool:
    return all(contains(items, item) for item in wanted)


@function("sets.equivalent", "list", "list")
def sets_equivalent(left: list[object], right: list[object]) -> bool:
    return sets_contains(left, right) is True and sets_contains(right, left) is True


@function("sets.intersects", "list", "list")
def sets_intersects(left: list[object], right: list[object]) -> bool:
    return any(contains(right, item) for item in left)


# Optional values.


@function("optional.of", "dyn")
def optional_of(value: object) -> Optional:
    return Optional(value, True)


@function("optional.ofNonZeroValue", "dyn")
def optional_of_non_zero(value: object) -> Optional:
    return Optional(value, True) if value not in (None, False, 0, "", b"", [], {}) else NONE


@function("optional.none")
def optional_none() -> Optional:
    return NONE


@function("hasValue", "optional_type")
def has_value(value: Optional) -> bool:
    return value.present


@function("value", "optional_type")
def optional_value(value: Optional) -> object:
    if not value.present:
        raise CelError("optional.none() dereference")
    return value.value


@function("unwrap", "list")
@function("optional.unwrap", "list")
@function("unwrapOpt", "list")
def unwrap(items: list[object]) -> list[object]:
    return [item.value for item in items if isinstance(item, Optional) and item.present]
