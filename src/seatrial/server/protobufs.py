"""Kubernetes' protobuf on the wire: enveloped objects, lists, and length-delimited watch events."""

from seatrial.model.documents import Document
from seatrial.model.kinds import Kind
from seatrial.model.protobuf import decode_protobuf, encode_protobuf
from seatrial.model.protobuf.wire import varint

_TYPE, _OBJECT, _RAW = b"\x0a", b"\x12", b"\x0a"


def decode(kind: Kind, data: bytes) -> Document:
    """The document in an enveloped body; it is read as `kind` where the envelope does not say."""
    return decode_protobuf(data, kind)


def encode(document: Document, kind: Kind | None = None) -> bytes:
    """A document, or a list, in its envelope."""
    return encode_protobuf(document, kind)


def frame(type: str, body: bytes) -> bytes:
    """A watch event: its length, then a metav1.WatchEvent (type, object.raw) around the enveloped object."""
    raw = _RAW + varint(len(body)) + body
    event = _TYPE + varint(len(type)) + type.encode() + _OBJECT + varint(len(raw)) + raw
    return len(event).to_bytes(4, "big") + event
