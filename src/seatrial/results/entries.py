"""The entries of a run in order, from the rows of its timeline."""

from collections.abc import Callable, Collection, Iterator, Sequence

import msgspec
import polars as pl

from seatrial.model.documents import Document, decode

READ = (
    "sequence", "major", "minor", "time", "writer", "entry", "id", "kind", "namespace", "name", "object", "victims",
    "node", "outcome", "message", "visited", "feasible", "rejected", "attempt",
)  # fmt: skip
"""The columns of an entry, in the order of the fields of `Entry`."""
READ_OF_WRITES = READ[: READ.index("outcome")]
VICTIMS = READ.index("victims")
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
    """create, patch, delete, done, status, write, attempt or unscheduled; from a Scenario alone
    (`scenario_table.py`) also bound, preempted and finished"""
    id: str
    kind: str
    namespace: str
    name: str
    data: str | None
    """The object afterwards, as JSON."""
    victims: tuple[str, ...] = ()
    node: str = ""
    outcome: str = ""
    message: str = ""
    visited: int = 0
    feasible: int = 0
    rejected: int = 0
    attempt: int = 0

    @property
    def object(self) -> Document | None:
        """The object afterwards, decoded."""
        return None if self.data is None else decode(self.data)


_entry: Callable[..., Entry] = Entry
"""From a row with the columns `READ`."""


def entries_of_table(
    frame: pl.LazyFrame, wanted: pl.Expr | None = None, names: Sequence[str] = READ
) -> Iterator[Entry]:
    """The (wanted) rows of a table as entries, a slice at a time: a long run is never in memory as a whole.

    `names` are the first columns of `READ`; each slice of the table is read once, whatever is wanted of it.
    """
    number = frame.select(pl.len()).collect().item()
    columns = [_column(name) for name in names]
    for start in range(0, number, SLICE):
        some = frame.slice(start, SLICE)
        for row in (some if wanted is None else some.filter(wanted)).select(columns).collect().iter_rows():
            yield _entry(*row[:VICTIMS], tuple(row[VICTIMS] or ()), *row[VICTIMS + 1 :])


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
