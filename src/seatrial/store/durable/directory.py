"""The folder of a durable store: locked by one process, and holding known files only."""

import fcntl
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from seatrial.model.errors import ConfigError

DATABASE, MARK, LOCK = "store.db", "committed", "lock"
LOG = f"{DATABASE}-wal"
_KEPT_LOG = f"{LOG}.kept"
_KNOWN = frozenset((DATABASE, LOG, _KEPT_LOG, f"{DATABASE}-shm", f"{DATABASE}-journal", MARK, LOCK))

log = logging.getLogger("seatrial.store")


class Directory:
    """A folder that this process alone writes to."""

    def __init__(self, path: Path) -> None:
        """Lock the folder, which is made at the first use; ConfigError where it cannot be used."""
        self.path = path
        try:
            path.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._lock: BinaryIO = (path / LOCK).open("ab")
        except OSError as error:
            raise cannot_use(path, error) from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise ConfigError(str(path), "", "the data directory is in use by another process") from None

    @property
    def database(self) -> Path:
        return self.path / DATABASE

    @property
    def log(self) -> Path:
        return self.path / LOG

    @property
    def mark(self) -> Path:
        return self.path / MARK

    @contextmanager
    def keeping_log(self) -> Iterator[None]:
        """Keep the log where the database is refused: SQLite removes it on closing, together with what it cannot read.

        A second name holds the file meanwhile; on a file system without hard links the log is not kept.
        """
        kept = self.path / _KEPT_LOG
        self._put_back(kept)
        with suppress(OSError):
            os.link(self.log, kept)
        try:
            yield
        except BaseException:
            self._put_back(kept)
            raise
        kept.unlink(missing_ok=True)

    def _put_back(self, kept: Path) -> None:
        """Give the log its name again, unless it still has it."""
        if kept.exists() and not self.log.exists():
            kept.rename(self.log)
        kept.unlink(missing_ok=True)

    def report_odd_files(self) -> None:
        """Name the files that do not belong to a store; they are left alone."""
        for path in sorted(self.path.iterdir()):
            if path.name not in _KNOWN:
                log.warning("%s is no file of the store and is ignored", path)

    def sync(self) -> None:
        """Make new names in the folder durable."""
        descriptor = os.open(self.path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def close(self) -> None:
        """Unlock the folder."""
        self._lock.close()


def cannot_use(path: Path, error: OSError) -> ConfigError:
    """The error for a file or folder that the operating system refuses to open."""
    why = error.strerror or str(error)
    return ConfigError(error.filename or str(path), "", f"{why}; make room or grant access, and start again")
