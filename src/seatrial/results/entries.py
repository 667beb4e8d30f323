"""The entries of a run in order, as `timeline.parquet` has them.

`scenario_entries.py` makes them from a Scenario alone.
"""

from collections.abc import Callable, Collection, Iterator, Sequence

import msgspec
import polars as pl

from seatrial.model.documents import Document, decode
from seatrial.timeline import Attempt

READ = (
    "sequence", "major", "minor", "time", "writer", "entry", "id", "kind", "namespace", "name", "object",
    "outcome", "node", "message", "visited", "feasible", "rejected", "victims", "attempt",
)  # fmt: skip
READ_OF_WRITES = READ[: READ.index("outcome")]
NUMBERS = ("sequence", "major", "minor", "visited", "feasible", "rejected", "attempt")
SLICE = 50_000


class Entry(msgspec.Struct, frozen=True, gc=False):
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


_entry: Callable[..., Entry] = Entry
"""From a row with the columns `READ`."""


def entries_of_table(frame: pl.LazyFrame, wanted: pl.Expr | None = None) -> Iterator[Entry]:
    """The (wanted) rows of a table as entries, a slice at a time: a long run is never in memory as a whole."""
    for rows in _slices(frame, wanted, READ):
        for *row, victims, attempt in rows.iter_rows():
            yield _entry(*row, tuple(victims) if victims else (), attempt)


def writes_of_table(frame: pl.LazyFrame, wanted: pl.Expr) -> Iterator[Entry]:
    """The wanted rows of a table as entries that have, of the columns of attempts, the victims alone."""
    for rows in _slices(frame, wanted, (*READ_OF_WRITES, "victims")):
        for row in rows.iter_rows():
            victims = row[-1]
            yield _entry(*row[:-1], victims=tuple(victims)) if victims else _entry(*row[:-1])


def _slices(frame: pl.LazyFrame, wanted: pl.Expr | None, names: Sequence[str]) -> Iterator[pl.DataFrame]:
    """Some columns of the (wanted) rows; each slice of the table is read once, whatever is wanted of it."""
    number = frame.select(pl.len()).collect().item()
    for start in range(0, number, SLICE):
        some = frame.slice(start, SLICE)
        yield (some if wanted is None else some.filter(wanted)).select(*map(_column, names)).collect()


def frame_of_table(frame: pl.LazyFrame, names: Sequence[str], verbs: Collection[str]) -> pl.DataFrame:
    """Some columns of the entries of some verbs."""
    return frame.filter(pl.col("entry").is_in(sorted(verbs))).select(*map(_column, names)).collect()


def _column(name: str) -> pl.Expr:
    """A column as entries have it: empty where it does not apply."""
    column = pl.col(name)
    if name == "time":
        return column.dt.epoch("us")
    if name in ("object", "victims"):
        return column
    return column.fill_null(0 if name in NUMBERS else "")
