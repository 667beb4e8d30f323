"""The rows of the timeline on their way into `timeline.parquet`: buffered, then handed on as frames.

Rows are flushed by number and by bytes, so that a long run is never held in memory as a whole. Encoded objects are
the very bytes that the store keeps; nothing is copied before a flush.
"""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import polars as pl

from seatrial.model.documents import encode
from seatrial.timeline.columns import BEST, COLUMNS, DICTIONARY, REASON

Row = tuple[Any, ...]
ROWS_BUFFERED = 50_000
ROWS_IN_A_GROUP = 10_000
BYTES_BUFFERED = 16 * 1024 * 1024
JSON_COLUMNS = ("operation", "object", "details")
CELL_COLUMNS = {
    name: dtype.inner for name, dtype in COLUMNS.items() if isinstance(dtype, pl.List) and dtype.inner.is_integer()
}
PAIR_COLUMNS = {"reasons": REASON, "best": BEST}
_OBJECT = list(COLUMNS).index("object")


class Sink(Protocol):
    """Where full frames go."""

    def write(self, frame: pl.DataFrame) -> None: ...

    def frames(self) -> Iterator[pl.LazyFrame]: ...


class MemorySink:
    """Keeps the frames; for short runs and for the Python API."""

    def __init__(self) -> None:
        self._frames: list[pl.DataFrame] = []

    def write(self, frame: pl.DataFrame) -> None:
        self._frames.append(frame)

    def frames(self) -> Iterator[pl.LazyFrame]:
        return (frame.lazy() for frame in self._frames)


class FolderSink:
    """Keeps each frame as a file of its own until all are joined."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._parts: list[Path] = []

    def write(self, frame: pl.DataFrame) -> None:
        path = self._folder / f"part-{len(self._parts):05}.parquet"
        frame.write_parquet(path, compression="zstd", compression_level=1)
        self._parts.append(path)

    def frames(self) -> Iterator[pl.LazyFrame]:
        # One scan over all parts: polars then reads them one after the other, in a fraction of the memory.
        return iter([pl.scan_parquet(self._parts, low_memory=True)] if self._parts else [])


class Rows:
    """An append-only table with the columns of the timeline."""

    def __init__(self, sink: Sink | None = None) -> None:
        self._sink = sink or MemorySink()
        self._buffer: list[Row] = []
        self._bytes = 0
        self.count = 0

    def add(self, row: Row, *, weight: int = 0) -> None:
        """Append a row; `weight` is about how many bytes it holds beside its object."""
        self._buffer.append((self.count, *row))
        self.count += 1
        self._bytes += weight + len(row[_OBJECT - 1] or b"")
        if len(self._buffer) >= ROWS_BUFFERED or self._bytes >= BYTES_BUFFERED:
            self.flush()

    def flush(self) -> None:
        """Hand on what is buffered."""
        if self._buffer:
            self._sink.write(frame_of(self._buffer))
            self._buffer = []
            self._bytes = 0

    def table(self) -> pl.LazyFrame:
        """All rows up to now."""
        self.flush()
        frames = list(self._sink.frames())
        return pl.concat(frames) if frames else pl.LazyFrame(schema=COLUMNS)


def frame_of(rows: list[Row]) -> pl.DataFrame:
    """Rows as a frame."""
    series = []
    for (name, dtype), values in zip(COLUMNS.items(), zip(*rows, strict=True), strict=True):
        if name in JSON_COLUMNS:
            series.append(pl.Series(name, values, dtype=pl.Binary).cast(pl.String))
        elif name in PAIR_COLUMNS:
            series.append(_pairs(name, values, PAIR_COLUMNS[name]))
        elif name in CELL_COLUMNS:
            series.append(_lists(name, values, CELL_COLUMNS[name]))
        else:
            series.append(pl.Series(name, values, dtype=dtype))
    return pl.DataFrame(series)


def _pairs(name: str, values: Sequence[Any], pair: pl.Struct) -> pl.Series:
    """Lists of (text, number) as one column of lists of structs."""
    first, second = pair.fields
    flat = [(place, *item) for place, value in enumerate(values) if value for item in value]
    schema = {"place": pl.UInt32, first.name: first.dtype, second.name: second.dtype}
    cells = pl.DataFrame(flat, schema=schema, orient="row")
    listed = cells.select("place", pl.struct(first.name, second.name).alias(name))
    empty = pl.Series([value is not None and not value for value in values], dtype=pl.Boolean)
    rows = pl.DataFrame({"place": pl.Series(range(len(values)), dtype=pl.UInt32), "empty": empty})
    rows = rows.join(listed.group_by("place", maintain_order=True).agg(name), on="place", how="left").sort("place")
    nothing = pl.lit([], dtype=pl.List(pair))
    return rows.select(pl.when("empty").then(nothing).otherwise(pl.col(name)).alias(name))[name]


def _lists(name: str, values: Sequence[Any], inner: Any) -> pl.Series:
    """Arrays of numbers as one column of lists: joined end to end, then cut again, which is cheap for many."""
    places = [place for place, value in enumerate(values) if value is not None and len(value)]
    empty = pl.Series([value is not None and not len(value) for value in values], dtype=pl.Boolean)
    rows = pl.DataFrame({"place": pl.Series(range(len(values)), dtype=pl.UInt32), "empty": empty})
    if places:
        lengths = [len(values[place]) for place in places]
        flat = np.concatenate([np.asarray(values[place]) for place in places])
        cells = pl.DataFrame(
            {
                "place": pl.Series(np.repeat(np.array(places, np.uint32), lengths)),
                name: pl.Series(flat).cast(inner),
            }
        )
        rows = rows.join(cells.group_by("place", maintain_order=True).agg(name), on="place", how="left")
    else:
        rows = rows.with_columns(pl.lit(None, dtype=pl.List(inner)).alias(name))
    nothing = pl.lit([], dtype=pl.List(inner))
    return rows.sort("place").select(pl.when("empty").then(nothing).otherwise(pl.col(name)).alias(name))[name]


def write_table(table: pl.LazyFrame, dictionary: dict[str, Any], target: Path) -> None:
    """Write `timeline.parquet`, in whole or not at all."""
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".timeline-") as folder:
        whole = Path(folder) / target.name
        notes = {DICTIONARY: encode(dictionary).decode()}
        table.sink_parquet(whole, compression="zstd", row_group_size=ROWS_IN_A_GROUP, metadata=notes)
        whole.replace(target)
