"""Reads a data directory of version 0.1.0, which kept journals and snapshots of its own, and converts it once.

A file there is a sequence of records: length, CRC-32, MessagePack body. A snapshot holds all objects and ends with a
footer; a journal holds one record per write. The newest snapshot is read first, then every journal in order. Only the
last journal may end in a record that was cut off.
"""

import logging
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from seatrial.model.errors import ConfigError
from seatrial.model.kinds import Kind
from seatrial.store.durable.database import REMEDY, Database
from seatrial.store.durable.directory import CONVERTED, Directory
from seatrial.store.objects import Stored

JOURNAL, SNAPSHOT, DRAFT, CLEAN = ".journal", ".snapshot", ".draft", "clean"
GAP = 100_000
"""Revisions that are skipped after an unclean end: 0.1.0 showed writes to watchers before they were on disk."""
_HEAD = struct.Struct("<II")
_EIGHT_FIELDS = b"\x98"
"""The first byte of a record: MessagePack's array of eight."""

Key = tuple[str, str, str, str]

log = logging.getLogger("seatrial.store")


class Record(msgspec.Struct, array_like=True, gc=False, frozen=True):
    """One write; a record without pieces is a deletion."""

    revision: int
    kind: tuple[str, str, str, str, bool, bool]
    namespace: str
    name: str
    at: int
    writer: str
    shared: int
    pieces: list[bytes]

    @property
    def key(self) -> Key:
        return self.kind[0], self.kind[2], self.namespace, self.name


class Footer(msgspec.Struct, array_like=True, gc=False, frozen=True):
    """The end of a snapshot: how many records it has, and its revision."""

    records: int
    revision: int


_RECORD = msgspec.msgpack.Decoder(Record)
_FOOTER = msgspec.msgpack.Decoder(Footer)


def convert_journals(directory: Directory) -> None:
    """Make the database from files of 0.1.0, if there are any, and put them aside; ConfigError where damaged."""
    draft = directory.database.with_name(directory.database.name + DRAFT)
    for path in (draft, draft.with_name(draft.name + "-wal")):
        path.unlink(missing_ok=True)
    if not _files(directory.path, JOURNAL) and not _files(directory.path, SNAPSHOT):
        return
    reader = _Reader()
    revision = reader.read(directory.path)
    database = Database(draft)
    database.fill(sorted(reader.objects.values(), key=lambda stored: stored.revision), revision)
    draft.rename(directory.database)
    directory.sync()
    log.warning("%s: converted from version 0.1.0; the old files are in %s", directory.path, CONVERTED)


def put_aside(directory: Directory) -> None:
    """Move files of 0.1.0 that were converted to a folder of their own."""
    old = [*_files(directory.path, JOURNAL), *_files(directory.path, SNAPSHOT), directory.path / CLEAN]
    for path in (path for path in old if path.exists()):
        (directory.path / CONVERTED).mkdir(exist_ok=True, mode=0o700)
        path.rename(directory.path / CONVERTED / path.name)


class _Reader:
    """All objects, as the files leave them."""

    def __init__(self) -> None:
        self.objects: dict[Key, Stored] = {}

    def read(self, folder: Path) -> int:
        """Read the files; the revision to go on from."""
        snapshots, journals = _files(folder, SNAPSHOT), _files(folder, JOURNAL)
        reached = self._read_snapshot(snapshots[-1]) if snapshots else 0
        for path in journals:
            reached = max(reached, self._read_journal(path, reached, is_last=path == journals[-1]))
        noted = _noted(folder / CLEAN)
        if noted > reached and journals and journals[-1].stat().st_size:
            raise _damaged(journals[-1], f"writes are missing: the store was closed at revision {noted}")
        last = max(reached, noted, *(int(path.stem) for path in journals), 0)
        return last if noted >= reached else last + GAP

    def _read_snapshot(self, path: Path) -> int:
        data = path.read_bytes()
        number = 0
        for _, body in _bodies(data):
            try:
                footer = _FOOTER.decode(body)
            except msgspec.DecodeError:
                self._apply(_decoded(path, body))
                number += 1
                continue
            if footer.records == number:
                return footer.revision
            break
        raise _damaged(path, "the snapshot is damaged")

    def _read_journal(self, path: Path, after: int, *, is_last: bool) -> int:
        """Apply the records after a revision."""
        data = path.read_bytes()
        reached, end = 0, 0
        for end, body in _bodies(data):  # noqa: B007
            record = _decoded(path, body)
            if record.revision > after:
                self._apply(record)
            reached = record.revision
        if end < len(data) and (not is_last or _has_record(data, end + 1)):
            raise _damaged(path, f"the journal is damaged at byte {end}")
        return reached

    def _apply(self, record: Record) -> None:
        if not record.pieces:
            self.objects.pop(record.key, None)
            return
        group, version, name, plural, namespaced, custom = record.kind
        kind = Kind(group, version, name, plural, namespaced=namespaced, custom=custom)
        content = _content(record, self.objects.get(record.key))
        self.objects[record.key] = Stored(kind, record.namespace, record.name, record.revision, content)


def _content(record: Record, previous: Stored | None) -> bytes | tuple[bytes, ...]:
    """The content of a record, with the pieces it shares with the record before."""
    if len(record.pieces) == 1:
        return record.pieces[0]
    before = previous.content if previous is not None else b""
    shared = before[1 : 1 + record.shared] if isinstance(before, tuple) else ()
    return (record.pieces[0], *shared, *record.pieces[1:])


def _files(folder: Path, suffix: str) -> list[Path]:
    """The files of a kind in the order of the revisions they begin after; others are no files of 0.1.0."""
    found = [path for path in folder.glob(f"*{suffix}") if path.stem.isdecimal() and path.is_file()]
    return sorted(found, key=lambda path: int(path.stem))


def _noted(path: Path) -> int:
    """The revision of a clean end; -1 after any other."""
    text = path.read_bytes().decode("ascii", "replace").strip() if path.is_file() else ""
    return int(text) if text.isdecimal() else -1


def _bodies(data: bytes) -> Iterator[tuple[int, memoryview]]:
    """The bodies of whole records and where each ends; stops at the first that is not whole."""
    position = 0
    while (body := _body(data, position)) is not None:
        position += _HEAD.size + len(body)
        yield position, body


def _body(data: bytes, position: int) -> memoryview | None:
    """The body of the record at a position; None where there is no whole one. An empty one is no record."""
    start = position + _HEAD.size
    if start > len(data):
        return None
    length, checksum = _HEAD.unpack_from(data, position)
    body = memoryview(data)[start : start + length]
    return body if length and len(body) == length and zlib.crc32(body) == checksum else None


def _has_record(data: bytes, position: int) -> bool:
    """Whether a whole record begins anywhere from a position on."""
    place = data.find(_EIGHT_FIELDS, position + _HEAD.size)
    while place >= 0:
        if _body(data, place - _HEAD.size) is not None:
            return True
        place = data.find(_EIGHT_FIELDS, place + 1)
    return False


def _decoded(path: Path, body: memoryview) -> Record:
    try:
        return _RECORD.decode(body)
    except msgspec.DecodeError as error:
        raise _damaged(path, f"a record cannot be read: {error}") from error


def _damaged(path: Path, why: str) -> ConfigError:
    return ConfigError(str(path), "", f"{why}; {REMEDY}")
