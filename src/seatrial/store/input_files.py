"""Files that users name: read whole, unless they have no end.

A device such as /dev/zero, or a pipe that is never closed, would fill the memory.
"""

import stat
from pathlib import Path
from typing import Any

import yaml

from seatrial.model.errors import ConfigError, SeatrialError
from seatrial.model.yaml_reader import load_all

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


def read_documents(path: Path) -> list[Any]:
    """The YAML or JSON documents of a file; ConfigError where they cannot be read."""
    try:
        return load_all(read_input(path))
    except OSError as error:
        raise ConfigError(str(path), "", error.strerror or str(error)) from error
    except (SeatrialError, yaml.YAMLError, ValueError) as error:
        raise ConfigError(str(path), "", " ".join(str(error).split())) from error


def check_input(path: Path) -> None:
    """Refuse what is not a file; a pipe (`<(…)` of a shell) and a terminal are files."""
    mode = path.stat().st_mode
    if stat.S_ISBLK(mode) or (stat.S_ISCHR(mode) and not _is_terminal(path)):
        raise ValueError(f"{path}: is a device, expected a file")


def _is_terminal(path: Path) -> bool:
    with path.open("rb", buffering=0) as file:
        return file.isatty()
