"""From protobuf messages to documents, by the data file's field numbers.

One reader per type is made on first use. What it answers is what Go would write as JSON of the same message, up to the
zero values that `canonical` adds.
"""

import base64
import struct
from collections.abc import Callable
from functools import cache
from typing import Any

import orjson

from seatrial.model.canonical import SCHEMA_PROPS
from seatrial.model.documents import Document
from seatrial.model.facts import FieldFacts, type_facts
from seatrial.model.protobuf.wire import FIXED64, LENGTH, VARINT, WireError, read_fields, read_varint, signed
from seatrial.model.times import SECOND, to_micro_time, to_time

Read = Callable[[Any], Any]
"""Takes the raw value of a field, a number or bytes, and answers it as JSON has it."""

MAGIC = b"k8s\x00"


def read_message(name: str, data: bytes) -> Document:
    """The document of a message by its type's OpenAPI model name."""
    return _message(name)(data)


@cache
def _message(name: str) -> Callable[[bytes], Document]:
    """The reader of a message; its fields are looked up on first use, since types may contain themselves."""
    steps: dict[int, tuple[int, Callable[[Document, Any], None]]] = {}

    def read(data: bytes) -> Document:
        if not steps:
            steps.update(_steps(name))
        document: Document = {}
        for number, wire_type, value in read_fields(data):
            step = steps.get(number)
            if step is None:
                continue
            expected, store = step
            if wire_type == expected:
                store(document, value)
            elif wire_type == LENGTH and expected == VARINT:
                for element in _packed(value):
                    store(document, element)
            else:
                raise WireError(f"proto: wrong wireType = {wire_type} for field {number}")
        return document

    return read


def _packed(data: Any) -> list[int]:
    numbers, position = [], 0
    while position < len(data):
        number, position = read_varint(data, position)
        numbers.append(number)
    return numbers


def _steps(name: str) -> dict[int, tuple[int, Callable[[Document, Any], None]]]:
    return {
        field.number: (wire_type_of(field.type), _store(field))
        for field in type_facts(name).fields or ()
        if field.number
    }


def wire_type_of(reference: str) -> int:
    """How values of a type travel."""
    match reference.removeprefix("[]"):
        case "bool" | "int32" | "int64":
            return VARINT
        case "float64":
            return FIXED64
        case _:
            return LENGTH


def _store(field: FieldFacts) -> Callable[[Document, Any], None]:
    name = field.name
    if field.inline:
        inline = _message(field.type)
        return lambda document, value: document.update(inline(value))
    if field.type.startswith("[]"):
        element = _reader(field.type[2:])
        return lambda document, value: document.setdefault(name, []).append(element(value))
    if field.type.startswith("{}"):
        entry = _entry(field.type[2:])
        return lambda document, value: document.setdefault(name, {}).update((entry(value),))
    read = _reader(field.type)

    def store(document: Document, value: Any) -> None:
        document[name] = read(value)

    return store


def _entry(reference: str) -> Callable[[bytes], tuple[str, Any]]:
    wire_type, read = wire_type_of(reference), _reader(reference)
    zero: int | bytes = 0 if wire_type == VARINT else bytes(8 if wire_type == FIXED64 else 0)

    def entry(data: bytes) -> tuple[str, Any]:
        name, value = "", zero
        for number, _, raw in read_fields(data):
            if number == 1:
                name = _text(raw)
            elif number == 2:
                value = raw
        return name, read(value)

    return entry


def _reader(reference: str) -> Read:
    if "." in reference and not reference.startswith("~"):
        return _message(reference)
    if reference.startswith("~[]"):
        element = _reader(reference[3:])
        return lambda data: [element(value) for number, _, value in read_fields(data) if number == 1]
    return _READERS[reference]


def _text(value: Any) -> str:
    return str(value, "utf-8")


def _members(data: bytes) -> dict[int, Any]:
    return {number: value for number, _, value in read_fields(data)}


def _quantity(data: bytes) -> str:
    return _text(_members(data).get(1, b"0")) or "0"


def _int_or_string(data: bytes) -> int | str:
    members = _members(data)
    return _text(members.get(3, b"")) if members.get(1) else signed(members.get(2, 0))


def _time(data: bytes) -> str | None:
    return to_time(signed(_members(data).get(1, 0)) * SECOND) if data else None


def _micro_time(data: bytes) -> str | None:
    members = _members(data)
    return to_micro_time(signed(members.get(1, 0)) * SECOND + members.get(2, 0) // 1000) if data else None


def _raw(data: bytes) -> Any:
    """A JSON value in bytes; an object that travels in protobuf itself is unwrapped."""
    raw = _members(data).get(1)
    if not raw:
        return None
    if raw.startswith(MAGIC):
        from seatrial.model.protobuf.envelopes import decode_protobuf

        return decode_protobuf(raw)
    return orjson.loads(raw)


def _schema_or_bool(data: bytes) -> Any:
    members = _members(data)
    return _message(SCHEMA_PROPS)(members[2]) if 2 in members else bool(members.get(1))


def _schema_or_list(element: Read) -> Read:
    def read(data: bytes) -> Any:
        single, several = None, []
        for number, _, value in read_fields(data):
            if number == 1:
                single = _message(SCHEMA_PROPS)(value)  # type: ignore[arg-type]
            elif number == 2:
                several.append(element(value))
        return several or single

    return read


_READERS: dict[str, Read] = {
    "string": _text,
    "bool": bool,
    "int32": signed,
    "int64": signed,
    "float64": lambda data: struct.unpack("<d", data)[0],
    "bytes": lambda data: base64.b64encode(data).decode(),
    "quantity": _quantity,
    "intOrString": _int_or_string,
    "time": _time,
    "microTime": _micro_time,
    "duration": lambda data: f"{signed(_members(data).get(1, 0))}ns",
    "raw": _raw,
    "fieldsV1": _raw,
    "json": _raw,
    "schemaOrBool": _schema_or_bool,
    "schemaOrArray": _schema_or_list(lambda value: _message(SCHEMA_PROPS)(value)),
    "schemaOrStrings": _schema_or_list(_text),
}
