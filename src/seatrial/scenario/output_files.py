"""Files of a run on the command line: temporary timeline pages, and results that are written atomically."""

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

RESULT = "result.json"


class FilePages:
    """TimelinePages in a temporary file, so that a long run is not held in memory."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._starts = [0]

    def append(self, page: bytes) -> None:
        self._file.seek(self._starts[-1])
        self._file.write(page)
        self._starts.append(self._starts[-1] + len(page))

    def replace_last(self, page: bytes) -> None:
        self._starts.pop()
        self.append(page)

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __getitem__(self, number: int, /) -> bytes:
        self._file.seek(self._starts[number])
        return self._file.read(self._starts[number + 1] - self._starts[number])

    def __iter__(self) -> Iterator[bytes]:
        return (self[number] for number in range(len(self)))


def write_whole(path: Path, parts: Iterable[bytes]) -> None:
    """Write a file from its parts; readers see the old content or all of the new one."""
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}-", delete=False) as file:
        try:
            file.writelines(parts)
            file.flush()
            Path(file.name).chmod(0o644)
            Path(file.name).replace(path)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise
