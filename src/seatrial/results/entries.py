"""The entries of a run in order, as `timeline.parquet` has them.

`scenario_entries.py` makes them from a Scenario alone.
"""

from collections.abc import Iterator
from typing import Any

import msgspec
import polars as pl

from seatrial.model.documents import Document, decode
from seatrial.timeline import Attempt

READ = (
    "sequence", "major", "minor", "time", "writer", "entry", "id", "kind", "namespace", "name", "object",
    "outcome", "node", "message", "visited", "feasible", "rejected", "victims", "attempt",
)  # fmt: skip
SLICE = 50_000


class Entry(msgspec.Struct, frozen=True):
    """One thing that happened."""

    sequence: int
    major: int
    minor: int
    time: int
    writer: str
    entry: str
    """create, patch, delete, done, status, write, attempt or unscheduled; from a Scenario alone also bound,
    preempted and finished"""
    id: str
    kind: str
    namespace: str
    name: str
    data: str | None
    """The object afterwards, as JSON."""
    outcome: str = ""
    node: str = ""
    message: str = ""
    visited: int = 0
    feasible: int = 0
    rejected: int = 0
    victims: tuple[str, ...] = ()
    attempt: int = 0
    tried: Attempt | None = None
    """The attempt in full, where the entry was made from a Scenario alone."""

    @property
    def object(self) -> Document | None:
        """The object afterwards, decoded."""
        return None if self.data is None else decode(self.data)


def entries_of_table(frame: pl.LazyFrame) -> Iterator[Entry]:
    """The rows of a table as entries, a slice at a time: a long run is never in memory as a whole."""
    columns = frame.select(
        *[pl.col(name) for name in READ if name != "time"], pl.col("time").dt.epoch("us").alias("time")
    ).select(READ)
    start = 0
    while len(rows := columns.slice(start, SLICE).collect()):
        start += SLICE
        for row in rows.iter_rows():
            yield _entry(row)


def _entry(row: tuple[Any, ...]) -> Entry:
    (sequence, major, minor, time, writer, entry, id, kind, namespace, name, data, *attempt) = row
    outcome, node, message, visited, feasible, rejected, victims, number = attempt
    return Entry(
        sequence, major, minor, time, writer or "", entry, id or "", kind or "", namespace or "", name or "", data,
        outcome or "", node or "", message or "", visited or 0, feasible or 0, rejected or 0, tuple(victims or ()),
        number or 0,
    )  # fmt: skip
