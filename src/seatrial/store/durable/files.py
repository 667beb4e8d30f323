"""The files of a data directory: journals and snapshots, named by the revision they begin after.

A snapshot is written under another name, synced and then renamed, so that one with its final name is whole. Journals
older than the newest snapshot are deleted after it. Reading goes the other way: the newest snapshot, then every
journal in order. Only the last journal may end in a torn record; it is cut there.
"""

import fcntl
import mmap
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import BinaryIO

from seatrial.model.errors import ConfigError
from seatrial.store.durable.records import Footer, Record, bodies, frame, read_footer, read_record, whole_record
from seatrial.store.objects import Stored

JOURNAL, SNAPSHOT = ".journal", ".snapshot"
CHUNK = 1024 * 1024


class Directory:
    """A data directory that this process alone writes to."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._lock = (path / "lock").open("ab")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise ConfigError(str(path), "", "the data directory is in use by another process") from None

    def close(self) -> None:
        """Let others have the directory."""
        self._lock.close()

    def journals(self) -> list[Path]:
        return self._files(JOURNAL)

    def snapshots(self) -> list[Path]:
        return self._files(SNAPSHOT)

    def new_journal(self, revision: int) -> BinaryIO:
        """A journal for the writes after a revision; those that nobody wrote to are not kept."""
        for path in self.journals():
            if not path.stat().st_size:
                path.unlink()
        file = self._named(revision, JOURNAL).open("ab", buffering=0)
        self.sync()
        return file

    def write_snapshot(self, objects: Iterable[Stored], revision: int) -> None:
        """Write all objects as of a revision."""
        final = self._named(revision, SNAPSHOT)
        draft = final.with_suffix(".draft")
        number, waiting, size = 0, [], 0
        with draft.open("wb", buffering=0) as file:
            for stored in objects:
                data = frame(whole_record(stored))
                number, size = number + 1, size + len(data)
                waiting.append(data)
                if size > CHUNK:
                    file.write(b"".join(waiting))
                    waiting, size = [], 0
            file.write(b"".join((*waiting, frame(Footer(number, revision)))))
            os.fsync(file.fileno())
        draft.rename(final)
        self.sync()

    def forget_before(self, revision: int) -> None:
        """Delete what the snapshot of a revision has made needless."""
        for path in (*self.journals(), *self.snapshots()):
            if revision_of(path) < revision:
                path.unlink()
        for path in self.path.glob("*.draft"):
            path.unlink()

    def sync(self) -> None:
        """Make new names in the directory durable."""
        descriptor = os.open(self.path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def read(self, restore: Callable[[Record], None]) -> int:
        """Give back every record in order; the revision that was reached."""
        reached = 0
        for path in reversed(self.snapshots()):
            reached = _read_snapshot(path, restore)
            break
        journals = self.journals()
        for path in journals:
            reached = max(reached, _read_journal(path, restore, reached, is_last=path == journals[-1]))
        return reached

    def _files(self, suffix: str) -> list[Path]:
        return sorted(self.path.glob(f"*{suffix}"), key=revision_of)

    def _named(self, revision: int, suffix: str) -> Path:
        return self.path / f"{revision:020d}{suffix}"


def revision_of(path: Path) -> int:
    """The revision after which a file begins."""
    return int(path.stem)


def _read_snapshot(path: Path, restore: Callable[[Record], None]) -> int:
    with (
        path.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        memoryview(data) as view,
    ):
        records = 0
        for _, body in bodies(view):
            with body:
                footer = read_footer(body)
                if footer is not None:
                    if footer.records == records:
                        return footer.revision
                    break
                restore(read_record(body))
                records += 1
    raise ConfigError(str(path), "", "the snapshot is damaged")


def _read_journal(path: Path, restore: Callable[[Record], None], after: int, *, is_last: bool) -> int:
    """Restore the records after a revision, and cut the last journal where it is torn."""
    reached, end, size = 0, 0, path.stat().st_size
    if not size:
        return reached
    with (
        path.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        memoryview(data) as view,
    ):
        for end, body in bodies(view):  # noqa: B007
            with body:
                record = read_record(body)
            if record.revision > after:
                restore(record)
            reached = record.revision
    if end < size:
        if not is_last:
            raise ConfigError(str(path), "", f"the journal is damaged at byte {end}")
        with path.open("r+b") as torn:
            torn.truncate(end)
            os.fsync(torn.fileno())
    return reached
