"""The folder of a durable store: locked by one process, and holding known files only."""

import fcntl
import logging
import os
from pathlib import Path
from typing import BinaryIO

from seatrial.model.errors import ConfigError

DATABASE, MARK, LOCK = "store.db", "committed", "lock"
CONVERTED = "converted-0.1.0"
"""Where the files of version 0.1.0 are kept after they were converted."""
_KNOWN = frozenset((DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", f"{DATABASE}-journal", MARK, LOCK, CONVERTED))

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
    def mark(self) -> Path:
        return self.path / MARK

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
