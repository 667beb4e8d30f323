"""Files of a run on the command line: temporary timeline pages, and results that are written atomically."""

import stat
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

RESULT = "result.json"
PIECES_AT_ONCE = 1024
BYTES_AT_ONCE = 256 * 1024
"""What is written and read at once: so little that its memory is used again, as getting new memory takes longer."""


class FilePages:
    """TimelinePages in a temporary file, so that a long run is not held in memory."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._starts = [0]

    def append(self, page: Sequence[bytes]) -> None:
        with _named(f"temporary file in {tempfile.gettempdir()}"):
            self._file.seek(self._starts[-1])
            for start in range(0, len(page), PIECES_AT_ONCE):
                self._file.write(b"".join(page[start : start + PIECES_AT_ONCE]))
            self._starts.append(self._file.tell())

    def replace_last(self, page: Sequence[bytes]) -> None:
        self._starts.pop()
        self.append(page)

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __getitem__(self, number: int, /) -> bytes:
        self._file.seek(self._starts[number])
        return self._file.read(self._starts[number + 1] - self._starts[number])

    def pieces(self, number: int) -> Iterator[bytes]:
        self._file.seek(self._starts[number])
        left = self._starts[number + 1] - self._starts[number]
        while left:
            piece = self._file.read(min(left, BYTES_AT_ONCE))
            left -= len(piece)
            yield piece


def write_whole(path: Path, parts: Iterable[bytes]) -> None:
    """Write a file from its parts; readers see the old content or all of the new one.

    A link is followed, a device or a pipe is written to, and a file keeps its mode.
    """
    path = path.resolve()
    mode = path.stat().st_mode if path.exists() else stat.S_IFREG | 0o644
    with _named(str(path)):
        if stat.S_ISREG(mode):
            _replace(path, parts, stat.S_IMODE(mode))
        else:
            with path.open("wb") as file:
                file.writelines(parts)


def _replace(path: Path, parts: Iterable[bytes], mode: int) -> None:
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}-", delete=False) as file:
        try:
            file.writelines(parts)
            file.flush()
            Path(file.name).chmod(mode)
            Path(file.name).replace(path)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise


@contextmanager
def _named(file: str) -> Iterator[None]:
    """A failed write names its file."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or file
        raise
