"""Writes of our own that need no checking: a status without decoding the rest of the object, and an annotation.

A controller's own status needs no checking, and the rest of the object does not change with it: the encoded status is
put in the place of the old one. The old status is read the same way, so writing an equal status costs nothing. A
status whose fields are in another order is equal: kubectl sorts those of the objects that it prints.
"""

from typing import TYPE_CHECKING

from seatrial.model.documents import Document, decode, encode, encode_to_keep
from seatrial.store.objects import Facets, Stored

if TYPE_CHECKING:
    from seatrial.store.store import Store


STATUS = b',"status":'


def document_without_status(stored: Stored) -> Document:
    """The rest of an object, decoded."""
    facets = stored.facets
    if facets is None or not facets.status:
        document = stored.document()
        document.pop("status", None)
        return document
    rest: Document = decode(stored.data[: -len(STATUS) - len(facets.status) - len(facets.tail)] + facets.tail)
    return rest


def write_status(store: "Store", stored: Stored, status: Document | bytes, writer: str) -> Stored:
    """Set the status of an object, unless it is equal."""
    fresh = status if isinstance(status, bytes) else encode_to_keep(status)
    data, facets = stored.data, stored.facets
    present = stored.encoded_status
    if present == fresh or (len(present) == len(fresh) and decode(present) == decode(fresh)):
        return stored
    if facets is not None:
        facets = Facets(facets.shape, facets.uid, fresh, facets.node)
    return store.write_pieces(
        stored, lambda revision: (_joined(stored, data, present, fresh, revision),), writer=writer, facets=facets
    )


def annotate(store: "Store", stored: Stored, key: str, value: str, writer: str) -> Stored:
    """Set an annotation of ours, unless it is equal; what is there was checked when it came in."""
    document = stored.document()
    annotations = document["metadata"].setdefault("annotations", {})
    if annotations.get(key) == value:
        return stored
    annotations[key] = value
    return store.put(stored.kind, document, stored, writer=writer)


def _joined(stored: Stored, data: bytes, present: bytes, fresh: bytes, revision: int) -> bytes:
    """The resourceVersion is the first of that name; the status is the last field, unless the client moved it."""
    old, new = b'"resourceVersion":"%d"' % stored.revision, b'"resourceVersion":"%d"' % revision
    if present and stored.facets is not None:
        place, tail = data.index(old), stored.facets.tail
        between = data[place + len(old) : -len(STATUS) - len(present) - len(tail)]
        return b"".join((data[:place], new, between, tail[:-1], STATUS, fresh, b"}"))
    ending = STATUS + present + b"}" if present else b"}"
    if not data.endswith(ending):
        document = stored.document()
        del document["status"]
        data, ending = encode(document), b"}"
    head = data[: -len(ending)].replace(old, new, 1)
    return head + STATUS + fresh + b"}"
