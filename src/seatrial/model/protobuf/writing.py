"""From documents to protobuf messages, byte for byte as Kubernetes' generated Go code writes them.

Fields go by number; a field that Go does not keep behind a pointer is always written, zero or not; maps are sorted.
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
from seatrial.model.protobuf.reading import wire_type_of
from seatrial.model.protobuf.wire import LENGTH, delimited, key, varint
from seatrial.model.times import SECOND, parse_time

Write = Callable[[Any], bytes]
"""Takes a JSON value and returns its bytes without key and length; None is the zero value."""


def write_message(name: str, document: Document) -> bytes:
    """The message of a document by its type's OpenAPI model name."""
    return _message(name)(document)


@cache
def _message(name: str) -> Write:
    """The writer of a message; its fields are looked up on first use, since types may contain themselves."""
    steps: list[Write] = []
    empty: Document = {}

    def write(document: Any) -> bytes:
        if not steps:
            fields = sorted((field for field in type_facts(name).fields or () if field.number), key=lambda f: f.number)
            steps.extend(_field(field) for field in fields)
        return b"".join([step(document or empty) for step in steps])

    return write


def _field(field: FieldFacts) -> Write:
    """Writes one field of the document it is given, or nothing."""
    name, prefix = field.name, key(field.number, wire_type_of(field.type))
    if field.inline:
        inline = _message(field.type)
        return lambda document: delimited(prefix, inline(document))
    if field.type.startswith("[]"):
        element = _element(field.type[2:], prefix)
        return lambda document: b"".join([element(value) for value in document.get(name) or ()])
    if field.type.startswith("{}"):
        entry = _entry(field.type[2:], prefix)
        return lambda document: b"".join([entry(item) for item in sorted((document.get(name) or {}).items())])
    write = _element(field.type, prefix)
    if field.pointer or field.type == "bytes":
        return lambda document: b"" if (value := document.get(name)) is None else write(value)
    return lambda document: write(document.get(name))


def _element(reference: str, prefix: bytes) -> Write:
    write = _writer(reference)
    if wire_type_of(reference) == LENGTH:
        return lambda value: delimited(prefix, write(value))
    return lambda value: prefix + write(value)


def _entry(reference: str, prefix: bytes) -> Write:
    write = _element(reference, key(2, wire_type_of(reference)))
    name_key = key(1, LENGTH)
    return lambda item: delimited(prefix, delimited(name_key, item[0].encode()) + write(item[1]))


def _writer(reference: str) -> Write:
    if "." in reference and not reference.startswith("~"):
        return _message(reference)
    if reference.startswith("~[]"):
        element = _element(reference[3:], key(1, LENGTH))
        return lambda values: b"".join([element(value) for value in values or ()])
    return _WRITERS[reference]


_KEY_1, _KEY_2, _KEY_3 = (key(number, LENGTH) for number in (1, 2, 3))
_NUMBER_1, _NUMBER_2 = key(1, 0), key(2, 0)


def _int_or_string(value: Any) -> bytes:
    is_text = isinstance(value, str)
    number, text = (0, value) if is_text else (value or 0, "")
    return _NUMBER_1 + varint(is_text) + _NUMBER_2 + varint(number) + delimited(_KEY_3, text.encode())


def _time(value: str | None) -> bytes:
    return _NUMBER_1 + varint(parse_time(value) // SECOND) + _NUMBER_2 + b"\x00" if value else b""


def _micro_time(value: str | None) -> bytes:
    if not value:
        return b""
    seconds, micros = divmod(parse_time(value), SECOND)
    return _NUMBER_1 + varint(seconds) + _NUMBER_2 + varint(micros * 1000)


def _raw(value: Any) -> bytes:
    return b"" if value is None else delimited(_KEY_1, orjson.dumps(value))


def _schema_or_bool(value: Any) -> bytes:
    if isinstance(value, dict):
        return _NUMBER_1 + b"\x01" + delimited(_KEY_2, _message(SCHEMA_PROPS)(value))
    return _NUMBER_1 + varint(bool(value))


def _schema_or_list(element: Write) -> Write:
    def write(value: Any) -> bytes:
        if isinstance(value, dict):
            return delimited(_KEY_1, _message(SCHEMA_PROPS)(value))
        return b"".join([delimited(_KEY_2, element(item)) for item in value or ()])

    return write


def _text(value: str | None) -> bytes:
    return value.encode() if value else b""


_WRITERS: dict[str, Write] = {
    "string": _text,
    "bool": lambda value: b"\x01" if value else b"\x00",
    "int32": lambda value: varint(value or 0),
    "int64": lambda value: varint(value or 0),
    "float64": lambda value: struct.pack("<d", value or 0),
    "bytes": lambda value: base64.b64decode(value or ""),
    "quantity": lambda value: delimited(_KEY_1, str(value or "0").encode()),
    "intOrString": _int_or_string,
    "time": _time,
    "microTime": _micro_time,
    "raw": _raw,
    "fieldsV1": _raw,
    "json": _raw,
    "schemaOrBool": _schema_or_bool,
    "schemaOrArray": _schema_or_list(lambda value: _message(SCHEMA_PROPS)(value)),
    "schemaOrStrings": _schema_or_list(_text),
}
