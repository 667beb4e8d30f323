"""Reads the results of filter and score plugins on the nodes of one attempt from the rows of a table."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from seatrial.store import Memo
from seatrial.timeline.wire import PASSED

ARRAYS = ("nodes", "verdicts", "filter_plugins", "feasible_nodes", "score_plugins", "raw", "normalized", "total")
CELL_COLUMNS = (*ARRAYS, "weights")
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


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The results of filter and score plugins on the nodes of one attempt, in columns.

    Numbers are arrays, so that a page of hundreds of attempts is written without a Python number for each cell.
    """

    nodes: tuple[str, ...]
    verdicts: NDArray[Any]
    """Parallel to `nodes`: 0 passed, else 1 + the place in `said`."""
    said: Sequence[Sequence[str]]
    """[plugin, code, reason…]"""
    filters: tuple[str, ...]
    feasible: tuple[str, ...]
    scorers: tuple[str, ...]
    weights: tuple[int | None, ...]
    raw: Sequence[NDArray[Any]]
    """Parallel to `scorers`, and each parallel to `feasible`; `normalized` as well."""
    normalized: Sequence[NDArray[Any]]
    total: NDArray[Any]

    def filtered(self, verdict: int) -> dict[str, str]:
        """The result of each filter that ran on a node."""
        if not verdict:
            return dict.fromkeys(self.filters, PASSED)
        plugin, _, *reasons = self.said[verdict - 1]
        place = self.filters.index(plugin) if plugin in self.filters else 0
        return {**dict.fromkeys(self.filters[:place], PASSED), plugin: ", ".join(reasons)}

    def scores(self) -> Iterator[tuple[str, dict[str, Score]]]:
        """The scores of each node that passed, by plugin."""
        raw, normalized = ([column.tolist() for column in columns] for columns in (self.raw, self.normalized))
        columns = list(zip(self.scorers, self.weights, raw, normalized, strict=True))
        for place, node in enumerate(self.feasible):
            yield node, {plugin: Score(own[place], each[place], weight) for plugin, weight, own, each in columns}


class CellReader:
    """Reads the cells of rows of a table; `dictionary` has the names for their numbers."""

    def __init__(self, dictionary: Mapping[str, Any]) -> None:
        self._nodes = _Names(dictionary.get("nodes", ()))
        self._plugins = _Names(dictionary.get("plugins", ()))
        self._verdicts: list[list[str]] = list(dictionary.get("verdicts", ()))

    def read(self, rows: pl.DataFrame) -> Iterator[Cells]:
        """The cells of rows that all have some."""
        for nodes, verdicts, filters, feasible, scorers, raw, normalized, total, weights in zip(
            *(_lists(rows[name]) for name in ARRAYS), rows["weights"].to_list(), strict=True
        ):
            yield Cells(
                self._nodes.of(nodes), verdicts, self._verdicts, self._plugins.of(filters),
                self._nodes.of(feasible), self._plugins.of(scorers), tuple(weights),
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
