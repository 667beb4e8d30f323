"""The commit mark: a small file that names the last revision that was acknowledged, and whether the end was clean.

SQLite takes damage at the end of its write-ahead log for a write that was cut off, and drops it silently. A
database that ends before the mark has lost acknowledged writes. The mark is overwritten after each commit without a
sync, which a killed process survives; after a power failure it may be older than the database, never newer.
"""

import os
import re
import zlib
from dataclasses import dataclass
from pathlib import Path

from seatrial.model.errors import ConfigError

_LINE = re.compile(r"seatrial store, format 1: revision (\d{20}), (open  |closed), checksum ([0-9a-f]{8})\n", re.ASCII)


@dataclass(frozen=True, slots=True)
class Mark:
    """The content of the commit mark."""

    revision: int
    is_closed: bool
    """Whether the store was closed after this revision; it is then exactly the last one."""


class CommitMark:
    """The file, held open while its store is."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor = -1

    def read(self) -> Mark | None:
        """The mark; None where there is no file, ConfigError where it is damaged."""
        try:
            text = self.path.read_bytes().decode("ascii", "replace")
        except FileNotFoundError:
            return None
        found = _LINE.fullmatch(text)
        if found is None or _line(int(found[1]), is_closed=found[2] == "closed") != text.encode("ascii", "replace"):
            why = (
                "the file is damaged, so it is not known which revision was acknowledged last; put the data "
                "directory back from a copy, or remove this file to accept what the database holds"
            )
            raise ConfigError(str(self.path), "", why)
        return Mark(int(found[1]), found[2] == "closed")

    def open(self, revision: int) -> None:
        """Record durably that the store is in use, at this revision."""
        self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self.write(revision)
        os.fsync(self._descriptor)

    def write(self, revision: int) -> None:
        """Record that everything up to a revision is on disk."""
        self._write(revision, is_closed=False)

    def close(self, revision: int) -> None:
        """Record durably that the store was closed at this revision."""
        self._write(revision, is_closed=True)
        os.fsync(self._descriptor)
        self.abandon()

    def abandon(self) -> None:
        """Leave the file as it is."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _write(self, revision: int, *, is_closed: bool) -> None:
        line = _line(revision, is_closed=is_closed)
        if os.pwrite(self._descriptor, line, 0) != len(line):
            raise OSError(f"{self.path}: only a part could be written")


def _line(revision: int, *, is_closed: bool) -> bytes:
    state = "closed" if is_closed else "open  "
    text = f"seatrial store, format 1: revision {revision:020d}, {state}"
    return f"{text}, checksum {zlib.crc32(text.encode()):08x}\n".encode()
