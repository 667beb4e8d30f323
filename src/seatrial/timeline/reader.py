"""Reads a stored timeline: its rows, and its attempts with names instead of numbers."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from seatrial.model.documents import Document, decode
from seatrial.model.errors import ConfigError
from seatrial.timeline.cells import CELL_COLUMNS, CellArrays, CellReader, Cells, Score
from seatrial.timeline.columns import COLUMNS, DICTIONARY

NAME = "timeline.parquet"
CELLS_AT_ONCE = 500_000
READ = (
    "major", "minor", "outcome", "node", "nominated", "message", "visited", "feasible", "reasons", "best", "victims",
    "details",
)  # fmt: skip
"""The columns of an attempt, in the order of the fields of `Attempt`."""
SHARED_LISTS = 4096
HAS_CELLS = "has_cells"
"""Whether the cells of an attempt are kept: read from the shortest of their columns, which are null together."""


class Attempt(msgspec.Struct, frozen=True, dict=True):
    """One attempt of the scheduler at one pod; `cells` is None where they were not kept."""

    major: int
    minor: int
    outcome: str
    node: str = ""
    nominated: str = ""
    message: str = ""
    visited: int = 0
    feasible: int = 0
    reasons: Mapping[str, int] = {}
    best: tuple[tuple[str, int], ...] = ()
    victims: tuple[str, ...] = ()
    details: Document = {}
    cells: Cells | None = None
    sequence: int = 0
    """The number of its row; from a Scenario alone, that of the entry which lists it."""

    @property
    def nodes(self) -> tuple[str, ...]:
        return self.cells.nodes if self.cells is not None else ()

    @cached_property
    def filter(self) -> Mapping[str, Mapping[str, str]]:
        """The results of the filters, by node and plugin."""
        cells = self.cells
        if cells is None:
            return {}
        return {name: cells.filtered(verdict) for name, verdict in zip(cells.nodes, cells.verdicts, strict=True)}

    @cached_property
    def score(self) -> Mapping[str, Mapping[str, Score]]:
        """The scores, by node and plugin."""
        return dict(self.cells.scores()) if self.cells is not None else {}

    @cached_property
    def total(self) -> Mapping[str, int]:
        """The total score of each node that passed."""
        cells = self.cells
        return {} if cells is None else dict(zip(cells.feasible, cells.total, strict=False))

    def document(self) -> Document:
        """Everything, for programs."""
        return {
            **{name: getattr(self, name) for name in _SAID},
            "nodes": list(self.nodes),
            "filter": self.filter,
            "score": {
                node: {
                    plugin: {"raw": score.raw, "normalized": score.normalized, "weight": score.weight}
                    for plugin, score in scores.items()
                }
                for node, scores in self.score.items()
            },
            "total": self.total,
            "details": self.details,
        }


_SAID = (
    "major", "minor", "outcome", "node", "nominated", "message", "visited", "feasible", "reasons", "best", "victims",
)  # fmt: skip


_made: Callable[..., Attempt] = Attempt
"""From the columns `READ`."""


class TimelineReader:
    """Queries on a timeline."""

    def __init__(self, table: pl.LazyFrame, dictionary: Mapping[str, Any]) -> None:
        self.table = table
        self.dictionary = dict(dictionary)

    @classmethod
    def load(cls, path: Path) -> "TimelineReader":
        """Open `timeline.parquet`; ConfigError where it is none of ours."""
        try:
            metadata = pl.read_parquet_metadata(path)
            table = pl.scan_parquet(path, glob=False)
            names = table.collect_schema().names()
        except (OSError, pl.exceptions.PolarsError) as error:
            raise ConfigError(str(path), "", f"cannot be read as a timeline: {error}") from error
        if DICTIONARY not in metadata or names != list(COLUMNS):
            raise ConfigError(str(path), "", "not a timeline of Seatrial")
        return cls(table, decode(metadata[DICTIONARY]))

    @cached_property
    def are_attempts_unrecorded(self) -> bool:
        """Whether a timeline has traces of a scheduler and no attempt: it was made with `--record none`."""
        is_attempt = pl.col("entry") == "attempt"
        is_trace = (pl.col("subresource") == "binding") | (pl.col("entry") == "unscheduled")
        asked = self.table.select(is_attempt.any().alias("attempted"), is_trace.any().alias("traced"))
        attempted, traced = asked.collect().row(0)
        return bool(traced and not attempted)

    def attempts(
        self, namespace: str = "", name: str = "", most_cells: int | None = None
    ) -> Iterator[tuple[str, Attempt]]:
        """The attempts at all pods, or at one, in the order in which they happened, each with its pod.

        Cells are read for the first attempts, as far as `most_cells` goes: a long run has tens of millions.
        """
        wanted = self._without_cells()
        if name:
            wanted = wanted.filter((pl.col("namespace") == namespace) & (pl.col("name") == name))
        return _named(self._read(wanted.sort("sequence"), most_cells))

    def attempts_with_arrays(self, most: int, most_cells: int) -> Iterator[tuple[str, Attempt, CellArrays | None]]:
        """The first attempts as `attempts` gives them, with their cells as arrays: a long run has millions."""
        return self._read(self._without_cells().head(most).sort("sequence"), most_cells)

    def rows_of_attempts(self, names: Collection[str]) -> list[tuple[str, int]]:
        """The attempts at pods of some names in order, each as its pod and its sequence number."""
        key = pl.concat_str("namespace", pl.lit("/"), "name").alias("pod")
        attempts = self.table.filter(pl.col("entry") == "attempt").select(key, "sequence")
        return attempts.filter(pl.col("pod").is_in(sorted(names))).sort("sequence").collect().rows()

    def attempts_in_rows(self, rows: Collection[int], most_cells: int | None) -> Iterator[tuple[str, Attempt]]:
        """The attempts with these sequence numbers."""
        return _named(self.attempts_in_rows_with_arrays(rows, most_cells))

    def attempts_in_rows_with_arrays(
        self, rows: Collection[int], most_cells: int | None
    ) -> Iterator[tuple[str, Attempt, CellArrays | None]]:
        """The attempts with these sequence numbers, with their cells as arrays."""
        wanted = self._without_cells().filter(pl.col("sequence").is_in(sorted(rows)))
        return self._read(wanted.sort("sequence"), most_cells)

    def _without_cells(self) -> pl.LazyFrame:
        """The attempts, each with whether it has cells instead of the cells."""
        attempts = self.table.filter(pl.col("entry") == "attempt")
        has_cells = pl.col("filter_plugins").is_not_null().alias(HAS_CELLS)
        return attempts.select("namespace", "name", has_cells, "sequence", *READ)

    def _read(self, attempts: pl.LazyFrame, most_cells: int | None) -> Iterator[tuple[str, Attempt, CellArrays | None]]:
        """Rows without their cells as attempts; the cells are fetched for some rows at a time."""
        rows = attempts.with_columns(*map(_column, READ)).collect()
        cells_so_far = (rows["visited"] * rows[HAS_CELLS]).cum_sum()
        if most_cells is not None:
            rows = rows.with_columns(pl.col(HAS_CELLS) & (cells_so_far <= most_cells))
        parts = cells_so_far // CELLS_AT_ONCE
        for _, some in rows.group_by(parts.alias("part"), maintain_order=True):
            cells = self._fetch_cells(some.filter(HAS_CELLS)["sequence"])
            for namespace, name, has_cells, sequence, *said in some.iter_rows():
                yield f"{namespace}/{name}", _attempt(said, sequence), next(cells) if has_cells else None

    def _fetch_cells(self, numbers: pl.Series) -> Iterator[CellArrays]:
        """The cells of the attempts with these sequence numbers, which count the rows of the table."""
        if not len(numbers):
            return iter(())
        first, last = int(numbers[0]), int(numbers[-1])
        near = self.table.slice(first, last - first + 1).select("sequence", *CELL_COLUMNS)
        return CellReader(self.dictionary).read(near.filter(pl.col("sequence").is_in(numbers.implode())).collect())

    def rejections(self) -> pl.DataFrame:
        """One row for each reason of each attempt: the reason, and how many nodes were rejected for it."""
        chosen = self.table.filter(pl.col("entry") == "attempt").select("reasons")
        return chosen.explode("reasons").unnest("reasons").drop_nulls("reason").collect()


def _attempt(said: list[Any], sequence: int) -> Attempt:
    """An attempt from the columns `READ`, without its cells."""
    *plain, reasons, best, victims, details = said
    return _made(
        *plain,
        _reasons(reasons) if reasons else {},
        _best(best) if best else (),
        tuple(decode(victims)["victims"]) if victims else (),
        _details(details) if details else {},
        sequence=sequence,
    )


def _named(found: Iterable[tuple[str, Attempt, CellArrays | None]]) -> Iterator[tuple[str, Attempt]]:
    """Attempts with their cells by name."""
    for pod, tried, arrays in found:
        yield pod, tried if arrays is None else msgspec.structs.replace(tried, cells=arrays.cells())


def _column(name: str) -> pl.Expr:
    """A column as it is read: lists as JSON, since many attempts have equal ones, and empty where it does not apply."""
    column = pl.col(name)
    if name in ("reasons", "best", "victims"):
        return pl.when(column.list.len() > 0).then(pl.struct(column).struct.json_encode()).alias(name)
    if name == "details":
        return column
    return column.fill_null(0 if name in ("major", "minor", "visited", "feasible") else "")


@lru_cache(SHARED_LISTS)
def _reasons(listed: str) -> Mapping[str, int]:
    return {item["reason"]: item["count"] for item in decode(listed)["reasons"]}


@lru_cache(SHARED_LISTS)
def _best(listed: str) -> tuple[tuple[str, int], ...]:
    return tuple((item["node"], item["total"]) for item in decode(listed)["best"])


@lru_cache(SHARED_LISTS)
def _details(text: str) -> Document:
    found: Document = decode(text)
    return found
