"""Reads a stored timeline: its rows, and its attempts with names instead of numbers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from seatrial.model.documents import Document, decode
from seatrial.model.errors import ConfigError
from seatrial.timeline.columns import COLUMNS, DICTIONARY
from seatrial.timeline.decisions import PASSED

NAME = "timeline.parquet"


@dataclass(frozen=True, slots=True)
class Score:
    """The result of one plugin on one node."""

    raw: int
    normalized: int
    weight: int

    @property
    def final(self) -> int:
        return self.normalized * self.weight


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt of the scheduler at one pod; cells are empty where they were not kept."""

    major: int
    minor: int
    outcome: str
    node: str
    nominated: str
    message: str
    visited: int
    feasible: int
    reasons: Mapping[str, int]
    best: tuple[tuple[str, int], ...]
    victims: tuple[str, ...]
    nodes: tuple[str, ...] = ()
    filter: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    score: Mapping[str, Mapping[str, Score]] = field(default_factory=dict)
    total: Mapping[str, int] = field(default_factory=dict)
    details: Document = field(default_factory=dict)


class TimelineReader:
    """Queries on a timeline."""

    def __init__(self, table: pl.LazyFrame, dictionary: Mapping[str, Any]) -> None:
        self.table = table
        self.dictionary = dict(dictionary)
        self._nodes: list[str] = list(dictionary.get("nodes", ()))
        self._plugins: list[str] = list(dictionary.get("plugins", ()))
        self._verdicts: list[list[str]] = list(dictionary.get("verdicts", ()))

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

    def of_pod(self, namespace: str, name: str) -> list[dict[str, Any]]:
        """All rows about a pod, in the order in which things happened."""
        chosen = (pl.col("kind") == "Pod") & (pl.col("namespace") == namespace) & (pl.col("name") == name)
        return self.table.filter(chosen).sort("sequence").collect().to_dicts()

    def attempts(self, namespace: str, name: str) -> list[Attempt]:
        """The attempts at a pod, oldest first."""
        return [self.attempt(row) for row in self.of_pod(namespace, name) if row["entry"] == "attempt"]

    def attempt(self, row: Mapping[str, Any]) -> Attempt:
        """A row with entry `attempt`, in names."""
        base = Attempt(
            major=row["major"],
            minor=row["minor"],
            outcome=row["outcome"],
            node=row["node"] or "",
            nominated=row["nominated"] or "",
            message=row["message"] or "",
            visited=row["visited"],
            feasible=row["feasible"],
            reasons={reason["reason"]: reason["count"] for reason in row["reasons"] or ()},
            best=tuple((best["node"], best["total"]) for best in row["best"] or ()),
            victims=tuple(row["victims"] or ()),
        )
        return base if row["nodes"] is None else self._with_cells(base, row)

    def _with_cells(self, base: Attempt, row: Mapping[str, Any]) -> Attempt:
        ran = [self._plugins[number] for number in row["filter_plugins"]]
        nodes = [self._nodes[number] for number in row["nodes"]]
        feasible = [self._nodes[number] for number in row["feasible_nodes"]]
        score: dict[str, dict[str, Score]] = {name: {} for name in feasible}
        width = len(feasible)
        for place, (plugin, weight) in enumerate(zip(row["score_plugins"], row["weights"], strict=True)):
            for offset, name in enumerate(feasible, place * width):
                score[name][self._plugins[plugin]] = Score(row["raw"][offset], row["normalized"][offset], weight)
        return Attempt(
            **{slot: getattr(base, slot) for slot in _BASE},
            nodes=tuple(nodes),
            filter={name: self._filtered(ran, verdict) for name, verdict in zip(nodes, row["verdicts"], strict=True)},
            score=score,
            total=dict(zip(feasible, row["total"], strict=False)),
            details=decode(row["details"]) if row["details"] else {},
        )

    def _filtered(self, ran: list[str], verdict: int) -> dict[str, str]:
        if not verdict:
            return dict.fromkeys(ran, PASSED)
        plugin, _, *reasons = self._verdicts[verdict - 1]
        place = ran.index(plugin) if plugin in ran else 0
        return {**dict.fromkeys(ran[:place], PASSED), plugin: ", ".join(reasons)}


_BASE = (
    "major",
    "minor",
    "outcome",
    "node",
    "nominated",
    "message",
    "visited",
    "feasible",
    "reasons",
    "best",
    "victims",
)
