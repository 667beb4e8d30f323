"""The rows of the database, each with a checksum over all of its other columns.

A flipped byte that SQLite does not notice changes a value and thereby fails the checksum of its row. Rows that vanish
are noticed by the number and the sum of the checksums of all rows, which `Totals` carries.
"""

import zlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import orjson

from seatrial.model.kinds import Kind
from seatrial.store.objects import Change, Stored

_SUM = 2**62
"""The sum of the checksums is kept below this: SQLite's integers have 63 bits and a sign."""


class ObjectRow(NamedTuple):
    """One object. One that is kept in fragments has its head and tail here and the rest in pieces."""

    revision: int
    kind: str
    namespace: str
    name: str
    list: int | None
    """The list of pieces between head and tail; None where `head` is the whole object."""
    checksum: int
    head: bytes
    tail: bytes | None


class HistoryRow(NamedTuple):
    """What an object was before the change of a revision.

    A row without `head` says that no change up to its revision is kept.
    """

    until: int
    """The revision of the change."""
    revision: int
    kind: str
    namespace: str
    name: str
    checksum: int
    head: bytes | None
    last: bytes | None
    """The state with which the object was deleted; None where it was changed."""


class PieceRow(NamedTuple):
    """One fragment of a large object."""

    list: int
    place: int
    checksum: int
    data: bytes


@dataclass(slots=True)
class Totals:
    """The state of the whole database after a transaction."""

    revision: int = 0
    rows: int = 0
    sum: int = 0

    def add(self, checksum: int) -> None:
        """Count a row that is put in."""
        self.rows += 1
        self.sum = (self.sum + checksum) % _SUM

    def subtract(self, checksum: int, rows: int = 1) -> None:
        """Count rows that are taken out, by the sum of their checksums."""
        self.rows -= rows
        self.sum = (self.sum - checksum) % _SUM

    def checksum(self) -> int:
        """A checksum over the totals themselves."""
        return zlib.crc32(f"{self.revision} {self.rows} {self.sum}".encode())


def object_row(stored: Stored, list: int | None) -> ObjectRow:
    """The row of an object."""
    content = stored.pieces
    head, tail = (content, None) if isinstance(content, bytes) else (content[0], content[-1])
    kind = _kind_text(stored.kind)
    checksum = object_checksum(stored.revision, kind, stored.namespace, stored.name, list, head, tail)
    return ObjectRow(stored.revision, kind, stored.namespace, stored.name, list, checksum, head, tail)


def history_row(change: Change, previous: Stored) -> HistoryRow:
    """The row of a change that replaced or deleted an object."""
    last = change.stored.data if change.type == "DELETED" else None
    kind, head = _kind_text(previous.kind), previous.data
    columns = change.revision, previous.revision, kind, previous.namespace, previous.name
    return HistoryRow(*columns, history_checksum(*columns, head, last), head, last)


def compacted_row(revision: int) -> HistoryRow:
    """The row that says where the history begins."""
    columns = revision, 0, "", "", ""
    return HistoryRow(*columns, history_checksum(*columns, None, None), None, None)


def piece_row(list: int, place: int, data: bytes) -> PieceRow:
    """The row of a fragment."""
    return PieceRow(list, place, piece_checksum(list, place, data), data)


def object_checksum(
    revision: int, kind: str, namespace: str, name: str, list: int | None, head: bytes, tail: bytes | None
) -> int:
    """The checksum over the columns of an object."""
    checksum = zlib.crc32(head, zlib.crc32(f"{revision}\0{kind}\0{namespace}\0{name}\0{list}".encode()))
    return checksum if tail is None else zlib.crc32(tail, checksum)


def history_checksum(
    until: int, revision: int, kind: str, namespace: str, name: str, head: bytes | None, last: bytes | None
) -> int:
    """The checksum over the columns of a state that was replaced."""
    columns = f"{until}\0{revision}\0{kind}\0{namespace}\0{name}\0{head is None}\0{last is None}"
    return zlib.crc32(last or b"", zlib.crc32(head or b"", zlib.crc32(columns.encode())))


def piece_checksum(list: int, place: int, data: bytes) -> int:
    """The checksum over the columns of a fragment."""
    return zlib.crc32(data, zlib.crc32(f"{list}\0{place}".encode()))


@lru_cache(4096)
def _kind_text(kind: Kind) -> str:
    row = (kind.group, kind.version, kind.kind, kind.plural, kind.namespaced, kind.custom)
    return orjson.dumps(row).decode()


@lru_cache(4096)
def read_kind(text: str) -> Kind:
    """A kind as far as a row names it: for objects whose kind is not served any more."""
    group, version, name, plural, namespaced, custom = _kind_columns(text)
    return Kind(group, version, name, plural, namespaced=namespaced, custom=custom)


def _kind_columns(text: str) -> Any:
    return orjson.loads(text)
