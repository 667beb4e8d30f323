"""Where a run on the command line keeps its pages and puts its results: files that appear whole or not at all."""

import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO


class FilePages:
    """Pages of the timeline in a temporary file, so that a long run does not live in memory."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._sizes: list[int] = []

    def append(self, page: bytes) -> None:
        self._file.seek(0, os.SEEK_END)
        self._file.write(page)
        self._sizes.append(len(page))

    def __len__(self) -> int:
        return len(self._sizes)

    def __iter__(self) -> Iterator[bytes]:
        position = 0
        for size in self._sizes:
            self._file.seek(position)
            yield self._file.read(size)
            position += size


def write_whole(path: Path, parts: Iterable[bytes]) -> None:
    """Write a file from its parts; whoever reads it sees the old one or the whole new one."""
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}-", delete=False) as file:
        try:
            for part in parts:
                file.write(part)
            file.flush()
            Path(file.name).chmod(0o644)
            Path(file.name).replace(path)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise
