"""Kubernetes' protobuf on the wire: enveloped objects, lists, and length-delimited watch events."""

from collections.abc import Iterable

from seatrial.model.decoding import unrecognized
from seatrial.model.documents import Document
from seatrial.model.facts import facts
from seatrial.model.kinds import Kind
from seatrial.model.protobuf import NoProtobuf, decode_protobuf, encode_protobuf, envelope, write_message
from seatrial.model.protobuf.wire import LENGTH, delimited, key, varint

PARTIAL = "PartialObjectMetadata"
META = "io.k8s.apimachinery.pkg.apis.meta.v1"
_FIRST, _SECOND = key(1, LENGTH), key(2, LENGTH)
_TYPE, _OBJECT, _RAW = b"\x0a", b"\x12", b"\x0a"


def decode(kind: Kind, data: bytes) -> Document:
    """The document in an enveloped body; it is read as `kind` where the envelope names none."""
    try:
        return decode_protobuf(data, kind)
    except NoProtobuf as error:
        raise unrecognized(kind, error.message, data) from error


def encode(document: Document, kind: Kind | None = None) -> bytes:
    """A document, or a list, in its envelope."""
    if document.get("kind") == PARTIAL:
        return envelope(document["apiVersion"], PARTIAL, message(document))
    return encode_protobuf(document, kind)


def message(document: Document) -> bytes:
    """A document as an item of a list: without envelope."""
    if document["kind"] == PARTIAL:
        return delimited(_FIRST, write_message(f"{META}.ObjectMeta", document["metadata"]))
    return write_message(facts().kinds[f"{document['apiVersion']}/{document['kind']}"], document)


def encode_list(document: Document, items: Iterable[bytes]) -> bytes:
    """A list in its envelope; all lists have their metadata as field 1 and their items as field 2."""
    head = delimited(_FIRST, write_message(f"{META}.ListMeta", document["metadata"]))
    body = b"".join((head, *(delimited(_SECOND, item) for item in items)))
    return envelope(document["apiVersion"], document["kind"], body)


def frame(type: str, body: bytes) -> bytes:
    """A watch event: its length, then a metav1.WatchEvent (type, object.raw) around the enveloped object."""
    raw = _RAW + varint(len(body)) + body
    event = _TYPE + varint(len(type)) + type.encode() + _OBJECT + varint(len(raw)) + raw
    return len(event).to_bytes(4, "big") + event
