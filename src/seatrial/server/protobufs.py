"""Kubernetes' protobuf on the wire: enveloped objects, lists, and length-delimited watch events."""

from seatrial.model.documents import Document
from seatrial.model.kinds import Kind
from seatrial.model.protobuf import decode_protobuf, encode_protobuf, envelope, write_message
from seatrial.model.protobuf.wire import LENGTH, delimited, key, varint

META = "io.k8s.apimachinery.pkg.apis.meta.v1"
_FIRST, _SECOND = key(1, LENGTH), key(2, LENGTH)
_TYPE, _OBJECT, _RAW = b"\x0a", b"\x12", b"\x0a"


def decode(kind: Kind, data: bytes) -> Document:
    """The document in an enveloped body; it is read as `kind` where the envelope does not say."""
    return decode_protobuf(data, kind)


def encode(document: Document, kind: Kind | None = None) -> bytes:
    """A document, or a list, in its envelope."""
    if document.get("kind") in ("PartialObjectMetadata", "PartialObjectMetadataList"):
        return _encode_partial(document)
    return encode_protobuf(document, kind)


def _encode_partial(document: Document) -> bytes:
    """Metadata alone, or a list of it: both hold metadata as field 1, and a list its items as field 2."""
    if "items" not in document:
        return envelope(document["apiVersion"], document["kind"], _partial(document))
    items = b"".join(delimited(_SECOND, _partial(item)) for item in document["items"])
    head = delimited(_FIRST, write_message(f"{META}.ListMeta", document["metadata"]))
    return envelope(document["apiVersion"], document["kind"], head + items)


def _partial(document: Document) -> bytes:
    return delimited(_FIRST, write_message(f"{META}.ObjectMeta", document["metadata"]))


def frame(type: str, body: bytes) -> bytes:
    """A watch event: its length, then a metav1.WatchEvent (type, object.raw) around the enveloped object."""
    raw = _RAW + varint(len(body)) + body
    event = _TYPE + varint(len(type)) + type.encode() + _OBJECT + varint(len(raw)) + raw
    return len(event).to_bytes(4, "big") + event
