"""Reads a stored timeline: its rows, and its attempts with names instead of numbers."""

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from seatrial.model.documents import Document, decode
from seatrial.model.errors import ConfigError
from seatrial.scheduler import SCHEDULED
from seatrial.timeline.cells import CELL_COLUMNS, CellReader, Cells, Score
from seatrial.timeline.columns import COLUMNS, DICTIONARY

NAME = "timeline.parquet"
CELLS_AT_ONCE = 500_000
READ = (
    "major", "minor", "outcome", "node", "nominated", "message", "visited", "feasible", "reasons", "best", "victims",
    "details",
)  # fmt: skip
"""The columns of an attempt, in the order of the fields of `Attempt`."""
SHARED_LISTS = 4096
ATTEMPT = pl.col("entry") == "attempt"
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
    """The number of its row."""

    @property
    def nodes(self) -> tuple[str, ...]:
        return self.cells.nodes if self.cells is not None else ()

    @cached_property
    def filter(self) -> Mapping[str, Mapping[str, str]]:
        """The results of the filters, by node and plugin."""
        cells = self.cells
        if cells is None:
            return {}
        verdicts = cells.verdicts.tolist()
        return {name: cells.filtered(verdict) for name, verdict in zip(cells.nodes, verdicts, strict=True)}

    @cached_property
    def score(self) -> Mapping[str, Mapping[str, Score]]:
        """The scores, by node and plugin."""
        return dict(self.cells.scores()) if self.cells is not None else {}

    @cached_property
    def total(self) -> Mapping[str, int]:
        """The total score of each node that passed."""
        cells = self.cells
        return {} if cells is None else dict(zip(cells.feasible, cells.total.tolist(), strict=False))

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

    def __init__(self, table: pl.LazyFrame, dictionary: Mapping[str, Any], *, is_of_scenario: bool = False) -> None:
        """`is_of_scenario` says that the rows were made from a Scenario with its result, which tells less."""
        self.table = table
        self.dictionary = dict(dictionary)
        self.is_of_scenario = is_of_scenario

    @classmethod
    def load(cls, path: Path) -> "TimelineReader":
        """Open `timeline.parquet`; ConfigError if Seatrial did not write it."""
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
        is_trace = (pl.col("subresource") == "binding") | (pl.col("entry") == "unscheduled")
        asked = self.table.select(ATTEMPT.any().alias("attempted"), is_trace.any().alias("traced"))
        attempted, traced = asked.collect().row(0)
        return bool(traced and not attempted)

    def attempts(
        self, wanted: pl.Expr | None = None, most: int | None = None, most_cells: int | None = None
    ) -> Iterator[tuple[str, Attempt]]:
        """The first (wanted) attempts in the order in which they happened, each with its pod.

        Cells are read as far as `most_cells` goes, since a long run has tens of millions: first for failed attempts.
        They are fetched for some rows at a time.
        """
        chosen = self.table.filter(ATTEMPT if wanted is None else ATTEMPT & wanted)
        has_cells = pl.col("filter_plugins").is_not_null().alias(HAS_CELLS)
        chosen = chosen.select("namespace", "name", has_cells, "sequence", *READ)
        chosen = (chosen if most is None else chosen.head(most)).sort("sequence")
        rows = chosen.with_columns(*map(_column, READ)).collect()
        sizes = rows["visited"] * rows[HAS_CELLS]
        if most_cells is not None:
            rows = rows.with_columns(pl.col(HAS_CELLS) & _fits(sizes, rows["outcome"], most_cells))
        parts = sizes.cum_sum() // CELLS_AT_ONCE
        for _, some in rows.group_by(parts.alias("part"), maintain_order=True):
            cells = self._fetch_cells(some.filter(HAS_CELLS)["sequence"])
            for namespace, name, has_own, sequence, *said in some.iter_rows():
                yield f"{namespace}/{name}", _attempt(said, sequence, next(cells) if has_own else None)

    def rows_of_attempts(self, names: Collection[str]) -> list[tuple[str, int]]:
        """The attempts at pods of some names in order, each as its pod and its sequence number."""
        key = pl.concat_str("namespace", pl.lit("/"), "name").alias("pod")
        attempts = self.table.filter(ATTEMPT).select(key, "sequence")
        return attempts.filter(pl.col("pod").is_in(sorted(names))).sort("sequence").collect().rows()

    def _fetch_cells(self, numbers: pl.Series) -> Iterator[Cells]:
        """The cells of the attempts with these sequence numbers, which count the rows of the table."""
        if not len(numbers):
            return iter(())
        first, last = int(numbers[0]), int(numbers[-1])
        near = self.table.slice(first, last - first + 1).select("sequence", *CELL_COLUMNS)
        return CellReader(self.dictionary).read(near.filter(pl.col("sequence").is_in(numbers.implode())).collect())

    def rejections(self) -> pl.DataFrame:
        """One row for each reason of each attempt: the reason, and how many nodes were rejected for it."""
        chosen = self.table.filter(ATTEMPT).select("reasons")
        return chosen.explode("reasons").unnest("reasons").drop_nulls("reason").collect()


def _fits(cells: pl.Series, outcomes: pl.Series, most_cells: int) -> pl.Series:
    """Which attempts have their cells read: the first that placed no pod, up to half of the room, then the others."""
    failed = outcomes != SCHEDULED
    of_failed = (cells * failed).cum_sum()
    has_failed = failed & (of_failed <= most_cells // 2)
    of_others = (cells * ~has_failed).cum_sum()
    return has_failed | (of_others <= most_cells - (cells * has_failed).sum())


def _attempt(said: list[Any], sequence: int, cells: Cells | None) -> Attempt:
    """An attempt from the columns `READ`."""
    *plain, reasons, best, victims, details = said
    return _made(
        *plain,
        _reasons(reasons) if reasons else {},
        _best(best) if best else (),
        tuple(decode(victims)["victims"]) if victims else (),
        _details(details) if details else {},
        cells,
        sequence,
    )


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


def _best(listed: str) -> tuple[tuple[str, int], ...]:
    return tuple((item["node"], item["total"]) for item in decode(listed)["best"])


@lru_cache(SHARED_LISTS)
def _details(text: str) -> Document:
    found: Document = decode(text)
    return found
