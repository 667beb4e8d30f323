"""The results of filter and score plugins on the nodes of one attempt: by name, and as the arrays of a table."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from seatrial.store import Memo
from seatrial.timeline.wire import PASSED

CELL_COLUMNS = (
    "nodes", "verdicts", "filter_plugins", "feasible_nodes", "score_plugins", "weights", "raw", "normalized", "total",
)  # fmt: skip
LISTS_KEPT = 256
"""How many lists of names are kept; at 5,000 nodes one takes 80 kB."""


@dataclass(frozen=True, slots=True)
class Score:
    """The result of one plugin on one node."""

    raw: int
    normalized: int
    weight: int | None
    """None where a result does not tell it: all normalised scores of the plugin are 0 then."""

    @property
    def final(self) -> int:
        return self.normalized * (self.weight or 0)


@dataclass(frozen=True, slots=True)
class Cells:
    """The results of filter and score plugins on the nodes of one attempt, in columns."""

    nodes: tuple[str, ...]
    verdicts: tuple[int, ...]
    """Parallel to `nodes`: 0 passed, else 1 + the place in `said`."""
    said: Sequence[Sequence[str]]
    """[plugin, code, reason…]"""
    filters: tuple[str, ...]
    feasible: tuple[str, ...]
    scorers: tuple[str, ...]
    weights: tuple[int | None, ...]
    raw: tuple[tuple[int, ...], ...]
    """Parallel to `scorers`, and each parallel to `feasible`; `normalized` as well."""
    normalized: tuple[tuple[int, ...], ...]
    total: tuple[int, ...]

    def filtered(self, verdict: int) -> dict[str, str]:
        """The result of each filter that ran on a node."""
        if not verdict:
            return dict.fromkeys(self.filters, PASSED)
        plugin, _, *reasons = self.said[verdict - 1]
        place = self.filters.index(plugin) if plugin in self.filters else 0
        return {**dict.fromkeys(self.filters[:place], PASSED), plugin: ", ".join(reasons)}

    def scores(self) -> Iterator[tuple[str, dict[str, Score]]]:
        """The scores of each node that passed, by plugin."""
        columns = list(zip(self.scorers, self.weights, self.raw, self.normalized, strict=True))
        for place, node in enumerate(self.feasible):
            yield node, {plugin: Score(raw[place], each[place], weight) for plugin, weight, raw, each in columns}


@dataclass(frozen=True, slots=True)
class CellArrays:
    """The same columns, with numbers as arrays: a page of hundreds of attempts is written without a Python number."""

    nodes: tuple[str, ...]
    verdicts: NDArray[Any]
    said: Sequence[Sequence[str]]
    filters: tuple[str, ...]
    feasible: tuple[str, ...]
    scorers: tuple[str, ...]
    weights: tuple[int | None, ...]
    raw: Sequence[NDArray[Any]]
    normalized: Sequence[NDArray[Any]]
    total: NDArray[Any]

    @classmethod
    def of(cls, cells: Cells) -> "CellArrays":
        """The arrays of cells that a Scenario has by name."""
        raw, normalized = (
            [np.array(column, np.int64) for column in columns] for columns in (cells.raw, cells.normalized)
        )
        return cls(
            cells.nodes, np.array(cells.verdicts, np.int64), cells.said, cells.filters, cells.feasible, cells.scorers,
            cells.weights, raw, normalized, np.array(cells.total, np.int64),
        )  # fmt: skip

    def cells(self) -> Cells:
        return Cells(
            nodes=self.nodes,
            verdicts=tuple(self.verdicts.tolist()),
            said=self.said,
            filters=self.filters,
            feasible=self.feasible,
            scorers=self.scorers,
            weights=self.weights,
            raw=tuple(tuple(column.tolist()) for column in self.raw),
            normalized=tuple(tuple(column.tolist()) for column in self.normalized),
            total=tuple(self.total.tolist()),
        )


class CellReader:
    """Reads the cells of rows of a table; `dictionary` has the names for their numbers."""

    def __init__(self, dictionary: Mapping[str, Any]) -> None:
        self._nodes = _Names(dictionary.get("nodes", ()))
        self._plugins = _Names(dictionary.get("plugins", ()))
        self._verdicts: list[list[str]] = list(dictionary.get("verdicts", ()))

    def read(self, rows: pl.DataFrame) -> Iterator[CellArrays]:
        """The cells of rows that all have some."""
        for nodes, verdicts, filters, feasible, scorers, weights, raw, normalized, total in zip(
            *(_lists(rows[name]) for name in CELL_COLUMNS), strict=True
        ):
            yield CellArrays(
                self._nodes.of(nodes), verdicts, self._verdicts, self._plugins.of(filters),
                self._nodes.of(feasible), self._plugins.of(scorers), tuple(weights.tolist()),
                _rows(raw, len(feasible)), _rows(normalized, len(feasible)), total,
            )  # fmt: skip


class _Names:
    """Names by their numbers; equal lists of numbers give one tuple, as many attempts visit the same nodes."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = np.array(names, dtype=object)
        self._known: Memo[bytes, tuple[str, ...]] = Memo(LISTS_KEPT)

    def of(self, numbers: NDArray[Any]) -> tuple[str, ...]:
        key = numbers.tobytes()
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = tuple(self._names[numbers].tolist())
        return found


def _lists(column: pl.Series) -> Iterator[NDArray[Any]]:
    """The lists of a column as arrays, which share the memory of the column: it is read chunk by chunk for that."""
    for chunk in column.get_chunks():
        lengths = chunk.list.len().to_numpy()
        filled = chunk if lengths.all() else chunk.filter(chunk.list.len() > 0)
        flat = filled.explode().to_numpy()
        ends = lengths.cumsum(dtype=np.int64).tolist()
        for end, length in zip(ends, lengths.tolist(), strict=True):
            yield flat[end - length : end]


def _rows(flat: NDArray[Any], length: int) -> Sequence[NDArray[Any]]:
    """The scores of one plugin after those of another, as a row each."""
    return list(flat.reshape(-1, length)) if length else []
