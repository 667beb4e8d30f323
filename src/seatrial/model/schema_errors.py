"""Decoding errors of a document that does not fit its kind, in kube-apiserver's words.

Follows sigs.k8s.io/json, the decoder of the API server: unknown and duplicate fields are *strict* errors, collected
with their paths; a value of the wrong type is an error of its own, of which only the first in the document is reported;
quantities and times refuse a value at once. This walk is slow and exact and runs only after the quick one of
`canonical` gave up.
"""

import json
import re
from calendar import monthrange
from collections.abc import Iterable
from typing import Any

from seatrial.model.canonical import SCHEMA_PROPS
from seatrial.model.quantity import QuantityError, canonical_quantity
from seatrial.model.schema import Field, Schema, schema_named

MOST_STRICT_ERRORS = 100
_MOST_DIGITS = 20
_INTEGERS = {"int32": 31, "int64": 63, "": 63}
_ZEROS: dict[str, Any] = {"string": "", "integer": 0, "number": 0, "boolean": False, "quantity": "0", "intOrString": 0}
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
_TIME_LAYOUT = (
    ("2006", r"\d{4}"), ("-", "-"), ("01", r"\d\d"), ("-", "-"), ("02", r"\d\d"), ("T", "T"), ("15", r"\d\d?"),
    (":", ":"), ("04", r"\d\d"), (":", ":"), ("05", r"\d\d(?:[.,]\d+)?"), ("Z07:00", r"Z|[-+]\d\d:\d\d"),
)  # fmt: skip
_MICRO_TIME_LAYOUT = (*_TIME_LAYOUT[:10], ("05", r"\d\d"), (".000000", r"[.,]\d{6}(?!\d)"), _TIME_LAYOUT[11])
_TIME_LIMITS = {2: ("month", 1, 12), 4: ("day", 1, 31), 6: ("hour", 0, 23), 8: ("minute", 0, 59), 10: ("second", 0, 59)}


class DecodingError(Exception):
    """A document that cannot be read at all; the text is upstream's."""


class Pairs(list[tuple[str, Any]]):
    """A JSON object as it was written, with the keys that were given twice."""


class Number(float):
    """A JSON number with the text it was written in."""

    text: str

    def __new__(cls, text: str) -> "Number":
        number = super().__new__(cls, text)
        number.text = text
        return number


def parse_pairs(data: bytes | str) -> Any:
    """JSON with nothing lost: objects as pairs, numbers with their text."""
    return json.loads(data, object_pairs_hook=Pairs, parse_float=Number, parse_int=_whole)


def _whole(text: str) -> int | Number:
    """A whole number; what no 64 bits hold is kept as a float, as everywhere else."""
    if len(text) > _MOST_DIGITS or not -(1 << 63) <= int(text) < 1 << 64:
        return Number(text)
    return int(text)


class Reader:
    """One reading of a document: what fits is kept, strict errors are collected, the first type error is remembered."""

    def __init__(self) -> None:
        self.strict_errors: list[str] = []
        self.type_error = ""
        self._last_error = ""
        self._path: list[str] = []
        self._fields: list[str] = []
        self._struct = ""
        self._lenient = 0

    def read(self, schema: Schema, document: Any) -> Any:
        """The part of a document that fits; DecodingError for what no server would read."""
        result = self._value(schema, document, f"v1.{schema.name.rpartition('.')[2]}")
        if self.type_error:
            raise DecodingError(self.type_error)
        return result

    def _value(self, schema: Schema, value: Any, go_type: str) -> Any:
        if value is None:
            return None
        match schema.type:
            case "object":
                return self._object(schema, value, go_type)
            case "map":
                return self._map(schema, value, go_type)
            case "array":
                return self._array(schema, value, go_type)
            case "raw" | "json" | "fieldsV1":
                return plain(value)
            case "schemaOrBool" | "schemaOrArray" | "schemaOrStrings":
                return self._schema_or(schema.type, value)
            case _:
                return self._scalar(schema, value, go_type)

    def _object(self, schema: Schema, value: Any, go_type: str) -> Any:
        if not isinstance(value, Pairs | dict):
            return self._wrong(value, go_type)
        result: dict[str, Any] = {}
        outer = self._struct
        for name, item in _items(value):
            field = schema.fields.get(name)
            if field is None:
                if schema.preserves_unknown:
                    result[name] = plain(item)
                else:
                    self._strict("unknown", name)
                continue
            if name in result:
                self._strict("duplicate", name)
            result[name] = self._field(schema, field, item)
            self._struct = outer
        return result

    def _field(self, schema: Schema, field: Field, value: Any) -> Any:
        self._struct = schema.name.rpartition(".")[2]
        self._fields += [*field.embedded_in, field.name]
        self._path.append(f".{field.name}")
        result = self._value(field.schema, value, field.go_type)
        self._path.pop()
        del self._fields[len(self._fields) - len(field.embedded_in) - 1 :]
        return result

    def _map(self, schema: Schema, value: Any, go_type: str) -> Any:
        if not isinstance(value, Pairs | dict):
            return self._wrong(value, go_type)
        assert schema.values is not None
        result: dict[str, Any] = {}
        inner = go_type[go_type.index("]") + 1 :] if go_type.startswith("map[") else "string"
        for name, item in _items(value):
            if name in result:
                self._strict("duplicate", name)
            self._path.append(f".{name}")
            result[name] = self._element(schema.values, item, inner)
            self._path.pop()
        return result

    def _array(self, schema: Schema, value: Any, go_type: str) -> Any:
        if not isinstance(value, list) or isinstance(value, Pairs):
            return self._wrong(value, go_type)
        assert schema.items is not None
        inner = go_type.removeprefix("[]") if go_type.startswith("[]") else "string"
        result = []
        for index, item in enumerate(value):
            self._path.append(f"[{index}]")
            result.append(self._element(schema.items, item, inner))
            self._path.pop()
        return result

    def _element(self, schema: Schema, value: Any, go_type: str) -> Any:
        """An element of a list or map, where null is the zero value."""
        if value is None:
            return {} if schema.type in ("object", "map") else [] if schema.type == "array" else _ZEROS.get(schema.type)
        return self._value(schema, value, go_type)

    def _schema_or(self, type_: str, value: Any) -> Any:
        """The unions of JSONSchemaProps; upstream reads below them leniently."""
        props = schema_named(SCHEMA_PROPS)
        if type_ == "schemaOrBool" and isinstance(value, bool):
            return value
        self._lenient += 1
        try:
            if isinstance(value, Pairs | dict):
                return self._value(props, value, "v1.JSONSchemaProps")
            if type_ == "schemaOrBool":
                raise DecodingError("boolean or JSON schema expected")
            if not isinstance(value, list):
                return None
            items = props if type_ == "schemaOrArray" else Schema("string")
            return self._value(
                Schema("array", items=items), value, "[]v1.JSONSchemaProps" if items is props else "[]string"
            )
        finally:
            self._lenient -= 1

    def _scalar(self, schema: Schema, value: Any, go_type: str) -> Any:
        match schema.type:
            case "string" | "duration":
                return value if isinstance(value, str) else self._wrong(value, go_type)
            case "boolean":
                return value if isinstance(value, bool) else self._wrong(value, go_type)
            case "integer":
                return self._integer(value, schema.format, go_type)
            case "number":
                return self._wrong(value, go_type) if json_word(value) != "number" else plain(value)
            case "bytes":
                return self._bytes(value, go_type)
            case "quantity":
                return _quantity(value)
            case "intOrString":
                return value if isinstance(value, str) else self._at_once(self._integer(value, "int32", "int32"))
            case _:
                micro = schema.type == "microTime"
                return _time(value, micro) if isinstance(value, str) else self._at_once(self._wrong(value, "string"))

    def _at_once(self, value: Any) -> Any:
        """Types that read themselves end the reading with their error; others let it go on to the end."""
        if value is None:
            raise DecodingError(self._last_error)
        return value

    def _integer(self, value: Any, format_: str, go_type: str) -> Any:
        if json_word(value) != "number":
            return self._wrong(value, go_type)
        largest = 1 << _INTEGERS[format_]
        if isinstance(value, float) or not -largest <= value < largest:
            return self._wrong(value, go_type, f"number {_text(value)}")
        return value

    def _bytes(self, value: Any, go_type: str) -> Any:
        if not isinstance(value, str):
            return self._wrong(value, go_type)
        text = value.replace("\n", "").replace("\r", "")
        match = _BASE64.match(text)
        end = match.end() if match else 0
        if end != len(text):
            wrong = re.search(r"[^A-Za-z0-9+/]", text[end:])
            self.type_error = self.type_error or (
                f"illegal base64 data at input byte {end + wrong.start() if wrong else end}"
            )
        return text

    def _wrong(self, value: Any, go_type: str, word: str = "") -> Any:
        where = f"Go struct field {self._struct}.{'.'.join(self._fields)}" if self._fields else "Go value"
        self._last_error = f"json: cannot unmarshal {word or json_word(value)} into {where} of type {go_type}"
        self.type_error = self.type_error or self._last_error

    def _strict(self, what: str, name: str) -> None:
        if self._lenient or len(self.strict_errors) >= MOST_STRICT_ERRORS:
            return
        path = f"{''.join(self._path)}.{name}".removeprefix(".")
        error = f"{what} field {json.dumps(path, ensure_ascii=False)}"
        if error not in self.strict_errors:
            self.strict_errors.append(error)


def plain(value: Any) -> Any:
    """A value without the memory of how it was written."""
    if isinstance(value, Pairs | dict):
        return {name: plain(item) for name, item in _items(value)}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return float(value) if isinstance(value, Number) else value


def _items(value: Any) -> Iterable[tuple[str, Any]]:
    return value if isinstance(value, Pairs) else value.items()


def json_word(value: Any) -> str:
    """What Go's decoder calls a value."""
    match value:
        case bool():
            return "bool"
        case str():
            return "string"
        case int() | float():
            return "number"
        case Pairs() | dict():
            return "object"
        case list():
            return "array"
        case _:
            return "null"


def _text(value: Any) -> str:
    return value.text if isinstance(value, Number) else str(value)


def _quantity(value: Any) -> str:
    if isinstance(value, Number):
        value = value.text
    elif not isinstance(value, str | int | float) or isinstance(value, bool):
        value = "{}"
    try:
        return canonical_quantity(value)
    except QuantityError as error:
        raise DecodingError(str(error)) from error


def _time(text: str, micro: bool) -> str:
    """The text if Go reads it as RFC 3339 (with exactly six digits for a MicroTime); else time.Parse's error."""
    rest, parts = text, []
    layout = _MICRO_TIME_LAYOUT if micro else _TIME_LAYOUT
    for element, pattern in layout:
        match = re.match(pattern, rest)
        if match is None:
            written = "".join(element for element, _ in layout)
            raise DecodingError(f'parsing time "{text}" as "{written}": cannot parse "{rest}" as "{element}"')
        parts.append(match[0])
        rest = rest[match.end() :]
    for position, (what, least, most) in _TIME_LIMITS.items():
        if not least <= int(parts[position][:2]) <= most:
            raise DecodingError(f'parsing time "{text}": {what} out of range')
    if int(parts[4]) > monthrange(int(parts[0]) or 4, int(parts[2]))[1]:
        raise DecodingError(f'parsing time "{text}": day out of range')
    if rest:
        raise DecodingError(f'parsing time "{text}": extra text: "{rest}"')
    parts[6] = parts[6].zfill(2)
    return "".join(parts)
