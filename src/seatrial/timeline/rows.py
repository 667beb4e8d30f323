"""Buffers the rows of the timeline and writes them as frames for `timeline.parquet`.

Rows are flushed by number and by bytes, so that a long run is never held in memory as a whole. Encoded objects are
the very bytes that the store keeps; nothing is copied before a flush. Cells follow one another in one list, which
is sliced into columns: cheaper than a tuple for each row. The columns of attempts alone are kept apart, so that a
write does not pay for two dozen columns in which it has nothing to say.
"""

import tempfile
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import polars as pl

from seatrial.model.documents import encode
from seatrial.timeline.columns import BEST, COLUMNS, DICTIONARY, REASON

Row = tuple[Any, ...]
ROWS_BUFFERED = 50_000
ROWS_IN_A_GROUP = 10_000
COMPRESSION_LEVEL = 1
"""Of zstd: objects of a template repeat each other, so that the fastest level gives the smallest file."""
BYTES_BUFFERED = 16 * 1024 * 1024
BYTES_IN_MEMORY = 256 * 1024 * 1024
JSON_COLUMNS = ("operation", "object", "details")
CELL_COLUMNS = {
    name: dtype.inner for name, dtype in COLUMNS.items() if isinstance(dtype, pl.List) and dtype.inner.is_integer()
}
PAIR_COLUMNS = {"reasons": REASON, "best": BEST}
SEQUENCE, *_OTHERS = COLUMNS
NUMBER = "attempt"
ROW_COLUMNS = [*_OTHERS[: _OTHERS.index("outcome")], NUMBER]
ATTEMPT_COLUMNS = [name for name in _OTHERS if name not in ROW_COLUMNS]
_OBJECT = ROW_COLUMNS.index("object")


class Sink(Protocol):
    """Where full frames go."""

    @property
    def is_in_memory(self) -> bool:
        """Whether no frame is in a file."""
        ...

    def write(self, frame: pl.DataFrame) -> None: ...

    def frames(self) -> Iterator[pl.LazyFrame]: ...


class MemorySink:
    """Keeps the frames; for short runs and for the Python API."""

    is_in_memory = True

    def __init__(self) -> None:
        self._frames: list[pl.DataFrame] = []

    def write(self, frame: pl.DataFrame) -> None:
        self._frames.append(frame)

    def frames(self) -> Iterator[pl.LazyFrame]:
        return (frame.lazy() for frame in self._frames)


class FolderSink:
    """Keeps each frame as a file of its own until all are joined."""

    is_in_memory = False

    def __init__(self, folder: Path, parts: Sequence[Path] = ()) -> None:
        """`parts` are those of an earlier process, in order."""
        self._folder = folder
        self._parts = list(parts)

    def write(self, frame: pl.DataFrame) -> None:
        path = self._folder / f"part-{len(self._parts):05}.arrow"
        frame.write_ipc(path, compression="zstd")
        self._parts.append(path)

    def frames(self) -> Iterator[pl.LazyFrame]:
        # One scan over all parts: polars then reads them one after the other, in a fraction of the memory.
        return iter([pl.scan_ipc(self._parts)] if self._parts else [])


class SpillingSink:
    """Keeps the first frames in memory and those beyond its bound as files: most runs then read no file again."""

    def __init__(self, folder: Path, bytes_in_memory: int = BYTES_IN_MEMORY) -> None:
        self._memory = MemorySink()
        self._files = FolderSink(folder)
        self._bytes_left = bytes_in_memory
        self.is_in_memory = True

    def write(self, frame: pl.DataFrame) -> None:
        self._bytes_left -= int(frame.estimated_size())
        self.is_in_memory = self.is_in_memory and self._bytes_left >= 0
        if self.is_in_memory:
            self._memory.write(frame)
        else:
            self._files.write(frame)

    def frames(self) -> Iterator[pl.LazyFrame]:
        yield from self._memory.frames()
        yield from self._files.frames()


class Buffer:
    """The cells of some rows, row after row; those of different attempts are kept apart, and their numbers by row."""

    __slots__ = ("attempts", "cells", "where")

    def __init__(self) -> None:
        self.cells: list[Any] = []
        self.attempts: list[Row] = []
        self.where: list[int | None] = []

    @property
    def count(self) -> int:
        return len(self.where)


class Rows:
    """An append-only table with the columns of the timeline."""

    def __init__(self, sink: Sink | None = None) -> None:
        self._sink = sink or MemorySink()
        self._buffer = Buffer()
        self._bytes = 0
        self._flushed: int = sum(frame.select(pl.len()).collect().item() for frame in self._sink.frames())
        self.has_earlier = self._flushed > 0
        """Whether there are rows of an earlier process."""

    @property
    def count(self) -> int:
        """How many rows there are."""
        return self._flushed + self._buffer.count

    @property
    def is_in_memory(self) -> bool:
        """Whether reading the table reads no file."""
        return self._sink.is_in_memory

    def add(self, row: Row, attempt: Row | None = None, *, weight: int = 0) -> None:
        """Append a row, with the cells of an attempt; `weight` is its approximate size in bytes without its object.

        An attempt that is repeated passes the same cells, which are then kept once.
        """
        buffer = self._buffer
        if attempt is None:
            buffer.where.append(None)
        else:
            if not buffer.attempts or buffer.attempts[-1] is not attempt:
                buffer.attempts.append(attempt)
            buffer.where.append(len(buffer.attempts) - 1)
        buffer.cells += row
        self._bytes += weight + len(row[_OBJECT] or b"")
        if self._bytes >= BYTES_BUFFERED or len(buffer.where) >= ROWS_BUFFERED:
            self.flush()

    def flush(self) -> None:
        """Hand on what is buffered."""
        if self._buffer.count:
            self._sink.write(frame_of(self._buffer, self._flushed))
            self._flushed += self._buffer.count
            self._buffer, self._bytes = Buffer(), 0

    def table(self) -> pl.LazyFrame:
        """All rows up to now."""
        self.flush()
        frames = list(self._sink.frames())
        return pl.concat(frames) if frames else pl.LazyFrame(schema=COLUMNS)


def frame_of(buffer: Buffer, first: int = 0) -> pl.DataFrame:
    """Rows as a frame; `first` is the number of the first one."""
    numbers = pl.int_range(first, first + buffer.count, eager=True).cast(COLUMNS[SEQUENCE]).alias(SEQUENCE)
    # With one row more, as polars repeats the lists of a single row, thousands of cells, for every null place.
    attempts = [*chain.from_iterable(buffer.attempts), *[None] * len(ATTEMPT_COLUMNS)]
    where = pl.Series(buffer.where, dtype=pl.UInt32)
    of_attempts = pl.DataFrame(_columns(ATTEMPT_COLUMNS, attempts)).select(pl.all().gather(where))
    frame = pl.DataFrame([numbers, *_columns(ROW_COLUMNS, buffer.cells), *of_attempts.get_columns()])
    return frame.select(list(COLUMNS))


def _columns(names: Sequence[str], cells: list[Any]) -> Iterator[pl.Series]:
    for place, name in enumerate(names):
        values = cells[place :: len(names)]
        if name in JSON_COLUMNS:
            yield pl.Series(name, values, dtype=pl.Binary).cast(pl.String)
        elif name in PAIR_COLUMNS:
            yield _pairs(name, values, PAIR_COLUMNS[name])
        elif name in CELL_COLUMNS:
            yield _lists(name, values, CELL_COLUMNS[name])
        else:
            yield pl.Series(name, values, dtype=COLUMNS[name])


def _pairs(name: str, values: Sequence[Any], pair: pl.Struct) -> pl.Series:
    """Lists of (text, number) as one column of lists of structs; attempts with the same end share theirs."""
    numbers: dict[Any, int] = {(): 0}
    where = [None if value is None else numbers.setdefault(tuple(value), len(numbers)) for value in values]
    _, *different = numbers
    empty = pl.Series(name, [[]], dtype=pl.List(pair))
    # In one chunk, as polars gathers from several twenty times as slowly.
    lists = pl.concat([empty, _different_pairs(name, different, pair)], rechunk=True)
    return lists.gather(pl.Series(where, dtype=pl.UInt32))


def _different_pairs(name: str, values: Sequence[Any], pair: pl.Struct) -> pl.Series:
    first, second = pair.fields
    items = [item for value in values for item in value]
    cells = pl.DataFrame(
        [
            pl.Series("place", [place for place, value in enumerate(values) for _ in value], dtype=pl.UInt32),
            pl.Series(first.name, [item[0] for item in items], dtype=first.dtype),
            pl.Series(second.name, [item[1] for item in items], dtype=second.dtype),
        ]
    )
    structs = cells.select("place", pl.struct(first.name, second.name).alias(name))
    return structs.group_by("place", maintain_order=True).agg(name)[name]


def _lists(name: str, values: Sequence[Any], inner: Any) -> pl.Series:
    """Arrays of numbers as one column of lists: those of one length are joined end to end and cut by a reshape."""
    by_length: dict[int, list[int]] = {}
    for place, value in enumerate(values):
        if value is not None:
            by_length.setdefault(len(value), []).append(place)
    if not by_length:
        return pl.Series(name, [None], dtype=pl.List(inner)).new_from_index(0, len(values))
    pieces = [pl.Series([None], dtype=pl.List(inner))]
    pieces += [_equal_lists([values[place] for place in places], inner) for places in by_length.values()]
    where = [0] * len(values)
    for number, place in enumerate((place for places in by_length.values() for place in places), 1):
        where[place] = number
    return pl.concat(pieces, rechunk=True).gather(pl.Series(where, dtype=pl.UInt32)).alias(name)


def _equal_lists(arrays: Sequence[Any], inner: Any) -> pl.Series:
    length = len(arrays[0])
    if not length:
        return pl.Series([[]], dtype=pl.List(inner)).new_from_index(0, len(arrays))
    flat = pl.Series(np.concatenate([np.asarray(array) for array in arrays])).cast(inner)
    return flat.reshape((len(arrays), length)).arr.to_list()


def write_table(table: pl.LazyFrame, dictionary: dict[str, Any], target: Path) -> None:
    """Write `timeline.parquet`, in whole or not at all."""
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".timeline-") as folder:
        whole = Path(folder) / target.name
        notes = {DICTIONARY: encode(dictionary).decode()}
        table.sink_parquet(
            whole,
            compression="zstd",
            compression_level=COMPRESSION_LEVEL,
            row_group_size=ROWS_IN_A_GROUP,
            metadata=notes,
        )
        whole.replace(target)
