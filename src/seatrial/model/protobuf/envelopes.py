"""Kubernetes' protobuf body: four magic bytes, then a runtime.Unknown that names the kind and holds its message."""

import binascii
import struct

import orjson

from seatrial.model.canonical import Misfit, canonicalise
from seatrial.model.documents import Document
from seatrial.model.errors import BadRequest
from seatrial.model.facts import facts
from seatrial.model.kinds import Kind
from seatrial.model.protobuf.reading import MAGIC, read_message
from seatrial.model.protobuf.wire import LENGTH, WireError, delimited, key, read_fields
from seatrial.model.protobuf.writing import write_message
from seatrial.model.schema import schema_named

_TYPE_META, _RAW, _ENCODING, _CONTENT_TYPE = (key(number, LENGTH) for number in (1, 2, 3, 4))
_NO_PROTOBUF = "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"


class NoProtobuf(BadRequest):
    """The body does not begin as a message does."""


def decode_protobuf(data: bytes, kind: Kind | None = None) -> Document:
    """The document of an enveloped message; it is read as `kind` where the envelope names none."""
    if not data.startswith(MAGIC):
        raise NoProtobuf(_NO_PROTOBUF)
    try:
        return _decode(data[len(MAGIC) :], kind)
    except (WireError, UnicodeDecodeError, OverflowError, RecursionError, struct.error, Misfit) as error:
        raise BadRequest(
            f"the body is not a protobuf message of its kind: {error or 'a value does not fit'}"
        ) from error
    except orjson.JSONDecodeError as error:
        raise BadRequest(f"a raw part of the body is not JSON: {error}") from error


def _decode(data: bytes, kind: Kind | None) -> Document:
    envelope = {number: value for number, _, value in read_fields(data)}
    meta = {number: _bytes(value).decode() for number, _, value in read_fields(_bytes(envelope.get(1)))}
    api_version = meta.get(1) or (kind.api_version if kind else "")
    name = meta.get(2) or (kind.kind if kind else "")
    raw = _bytes(envelope.get(2))
    if _bytes(envelope.get(4)) == b"application/json":
        document: Document = orjson.loads(raw)
        return document
    model = facts().kinds.get(f"{api_version}/{name}")
    if model is None:
        raise BadRequest(f'no kind "{name}" is registered for version "{api_version}" in protobuf')
    schema = schema_named(model)
    message: Document = canonicalise(schema, read_message(model, raw))
    return {"apiVersion": api_version, "kind": name, **message} if "kind" in schema.fields else message


def _bytes(value: object) -> bytes:
    return value if isinstance(value, bytes) else b""


def encode_protobuf(document: Document, kind: Kind | None = None) -> bytes:
    """A document of a built-in kind, or a list of one, in its envelope; `kind` where the document names none."""
    api_version = document.get("apiVersion") or (kind.api_version if kind else "")
    name = document.get("kind") or (kind.kind if kind else "")
    model = facts().kinds.get(f"{api_version}/{name}")
    if model is None:
        raise BadRequest(f'no kind "{name}" is registered for version "{api_version}" in protobuf')
    try:
        message = write_message(model, document)
    except (ValueError, TypeError, AttributeError, binascii.Error) as error:
        raise BadRequest(f"{name} cannot be written as protobuf: {error}") from error
    if "kind" not in schema_named(model).fields:
        api_version = name = ""
    return envelope(api_version, name, message)


def envelope(api_version: str, kind: str, message: bytes) -> bytes:
    """The body around a message."""
    type_meta = delimited(_TYPE_META, api_version.encode()) + delimited(_RAW, kind.encode())
    return b"".join(
        (
            MAGIC,
            delimited(_TYPE_META, type_meta),
            delimited(_RAW, message),
            _ENCODING + b"\x00",
            _CONTENT_TYPE + b"\x00",
        )
    )
