"""One write as bytes: a length, a checksum, and a MessagePack body.

A record that was cut off or half written does not pass its checksum, so a reader knows where the journal ends.
"""

import struct
import zlib
from collections.abc import Iterator

import msgspec

from seatrial.model.kinds import Kind
from seatrial.store.fragments import shared_pieces
from seatrial.store.objects import Change, Stored

_HEAD = struct.Struct("<II")
_TWO_FIELDS = 0x92
"""How MessagePack begins an array of two."""

KindRow = tuple[str, str, str, str, bool, bool]


class Record(msgspec.Struct, array_like=True, gc=False, frozen=True):
    """What became of an object; without pieces it is gone."""

    revision: int
    kind: KindRow
    namespace: str
    name: str
    at: int
    writer: str
    shared: int
    pieces: list[bytes]

    @property
    def key(self) -> tuple[str, str, str, str]:
        return self.kind[0], self.kind[2], self.namespace, self.name


class Footer(msgspec.Struct, array_like=True, gc=False, frozen=True):
    """The end of a snapshot: how many records it has, and the revision it stands for."""

    records: int
    revision: int


_ENCODER = msgspec.msgpack.Encoder()
_RECORD = msgspec.msgpack.Decoder(Record)
_FOOTER = msgspec.msgpack.Decoder(Footer)


def record_of(change: Change) -> Record:
    """The record of a change; pieces that the object had before are only counted."""
    stored = change.stored
    if change.type == "DELETED":
        return _record(stored, change.at, change.writer, 0, [])
    shared = shared_pieces(stored, change.previous)
    content = stored.content
    if isinstance(content, bytes):
        return _record(stored, change.at, change.writer, 0, [content])
    return _record(stored, change.at, change.writer, shared, [content[0], *content[1 + shared :]])


def whole_record(stored: Stored) -> Record:
    """The record of an object in a snapshot."""
    content = stored.content
    return _record(stored, 0, "", 0, [content] if isinstance(content, bytes) else list(content))


def content_of(record: Record, previous: Stored | None) -> bytes | tuple[bytes, ...]:
    """The content that a record stands for, with the pieces it shares with what was before."""
    if len(record.pieces) == 1:
        return record.pieces[0]
    before = previous.content if previous is not None else b""
    shared = before[1 : 1 + record.shared] if isinstance(before, tuple) else ()
    return (record.pieces[0], *shared, *record.pieces[1:])


def frame(body: Record | Footer) -> bytes:
    """The bytes of a record in a file."""
    data = _ENCODER.encode(body)
    return _HEAD.pack(len(data), zlib.crc32(data)) + data


def bodies(data: memoryview) -> Iterator[tuple[int, memoryview]]:
    """The bodies of whole records and where each ends; stops at the first that is not whole."""
    position = 0
    while position + _HEAD.size <= len(data):
        length, checksum = _HEAD.unpack_from(data, position)
        end = position + _HEAD.size + length
        body = data[position + _HEAD.size : end]
        if end > len(data) or zlib.crc32(body) != checksum:
            body.release()
            return
        yield end, body
        position = end


def read_record(body: memoryview) -> Record:
    return _RECORD.decode(body)


def read_footer(body: memoryview) -> Footer | None:
    """The footer in a body; None where it is a record."""
    return _FOOTER.decode(body) if body[0] == _TWO_FIELDS else None


def _record(stored: Stored, at: int, writer: str, shared: int, pieces: list[bytes]) -> Record:
    kind = stored.kind
    row = (kind.group, kind.version, kind.kind, kind.plural, kind.namespaced, kind.custom)
    return Record(stored.revision, row, stored.namespace, stored.name, at, writer, shared, pieces)


def kind_from(row: KindRow) -> Kind:
    """A kind that nobody serves any more, as far as a record tells it."""
    group, version, name, plural, namespaced, custom = row
    return Kind(group, version, name, plural, namespaced=namespaced, custom=custom)
