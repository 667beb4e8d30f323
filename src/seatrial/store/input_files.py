"""Files that users name: read whole, unless they have no end.

A device such as /dev/zero, or a pipe that is never closed, would fill the memory.
"""

import stat
from pathlib import Path

LARGEST = 4 << 30
"""Bytes of the largest file that is read."""
_CHUNK = 1 << 20


def read_input(path: Path) -> str:
    """The text of a file; OSError where it cannot be read, ValueError where it is no text or has no end."""
    check_input(path)
    parts, size = [], 0
    with path.open("rb") as file:
        while part := file.read(_CHUNK):
            parts.append(part)
            size += len(part)
            if size > LARGEST:
                raise ValueError(f"{path}: is larger than {LARGEST >> 30} GiB")
    return b"".join(parts).decode("utf-8")


def check_input(path: Path) -> None:
    """Refuse what is not a file; a pipe (`<(…)` of a shell) and a terminal are files."""
    mode = path.stat().st_mode
    if stat.S_ISBLK(mode) or (stat.S_ISCHR(mode) and not _is_terminal(path)):
        raise ValueError(f"{path}: is a device, expected a file")


def _is_terminal(path: Path) -> bool:
    with path.open("rb", buffering=0) as file:
        return file.isatty()
