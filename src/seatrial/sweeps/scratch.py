"""A temporary folder that does not outlive its process for long.

A process that is killed cannot remove its folder. It holds a lock on a file in it, which the kernel releases. A later
process can take the lock, so it knows that the folder is abandoned and removes it.
"""

import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: there is no such lock, and nothing is removed.
    fcntl = None  # type: ignore[assignment]

PREFIX = "seatrial-sweep-"
LOCK = "lock"
YOUNG = 60.0
"""Seconds in which a folder may not have its lock yet."""


def make_scratch() -> tuple[Path, Callable[[], None]]:
    """A new folder, and what removes it; folders of processes that were killed are removed first."""
    remove_abandoned()
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    lock = (folder / LOCK).open("wb")
    if fcntl is not None:
        fcntl.flock(lock, fcntl.LOCK_EX)

    def remove() -> None:
        lock.close()
        shutil.rmtree(folder, ignore_errors=True)

    return folder, remove


def remove_abandoned() -> None:
    """Remove the folders whose process is gone."""
    if fcntl is None:
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        # OSError: another user's, gone already, or its process holds the lock.
        with suppress(OSError), (folder / LOCK).open("r+b") as lock:
            if time.time() - folder.stat().st_mtime > YOUNG:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
