"""The result of a run: the Scenario with its status, the timeline, and queries on both.

A result lives in memory after a run, or in a folder (`result.json`, `timeline.parquet`); both have the same interface.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from seatrial.model.documents import Document, decode
from seatrial.model.errors import ConfigError
from seatrial.scenario.output_files import write_whole
from seatrial.timeline import NAME, Explanation, TimelineReader, explain
from seatrial.timeline.rows import write_table

RESULT = "result.json"
_POD = {
    "namespace": pl.String,
    "name": pl.String,
    "node": pl.String,
    "phase": pl.String,
    "priority": pl.Int64,
    "created": pl.Int32,
    "bound": pl.Int32,
    "deleted": pl.Int32,
    "attempts": pl.Int32,
}
_NODE = {"name": pl.String, "created": pl.Int32, "deleted": pl.Int32, "pods": pl.Int32}


class Result:
    """The result of a run."""

    def __init__(self, scenario: bytes | Path, kept: TimelineReader) -> None:
        self._scenario = scenario
        self.kept = kept

    @classmethod
    def load(cls, path: Path | str) -> "Result":
        """Open a result that was saved: a folder, or the `result.json` in it."""
        path = Path(path)
        folder = path if path.is_dir() else path.parent
        file = folder / RESULT if path.is_dir() else path
        if not file.is_file() or file.suffix != Path(RESULT).suffix:
            raise ConfigError(str(path), "", f"expected a folder with {RESULT}, or that file")
        if not (folder / NAME).is_file():
            raise ConfigError(str(path), "", f"needs {NAME} beside it, where the scheduling attempts are kept")
        return cls(file, TimelineReader.load(folder / NAME))

    def save(self, folder: Path | str) -> None:
        """Write `result.json` and `timeline.parquet`, each whole or not at all."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        data = self._scenario if isinstance(self._scenario, bytes) else self._scenario.read_bytes()
        write_table(self.kept.table, self.kept.dictionary, folder / NAME)
        write_whole(folder / RESULT, [data])

    @cached_property
    def scenario(self) -> Document:
        """The Scenario with its status."""
        data = self._scenario if isinstance(self._scenario, bytes) else self._scenario.read_bytes()
        try:
            scenario: Document = decode(data)
        except ValueError as error:
            raise ConfigError(str(self._scenario), "", f"not JSON: {error}") from error
        return scenario

    @property
    def status(self) -> Document:
        status: Document = self.scenario.get("status") or {}
        return status

    @property
    def phase(self) -> str:
        return str(self.status.get("phase", "Unknown"))

    @property
    def message(self) -> str:
        return str(self.status.get("message", ""))

    @property
    def timeline(self) -> pl.DataFrame:
        """All entries of the timeline, one row each; see `timeline.columns`."""
        return self.kept.table.collect()

    @cached_property
    def pods(self) -> pl.DataFrame:
        """Every pod there ever was: where it is, since which step, after how many attempts."""
        return pl.DataFrame(list(_pods(self._rows("Pod"))), schema=_POD, orient="row")

    @cached_property
    def nodes(self) -> pl.DataFrame:
        """Every node there ever was, with the number of pods on it at the end."""
        on = self.pods.filter(pl.col("deleted").is_null() & pl.col("node").is_not_null())
        counts = dict(on.group_by("node").len().iter_rows())
        return pl.DataFrame(list(_nodes(self._rows("Node"), counts)), schema=_NODE, orient="row")

    def events(self) -> Iterator[Document]:
        """Every entry of the timeline on the wire, in order."""
        timeline = (self.status.get("scenarioResult") or {}).get("timeline") or {}
        for step in sorted(timeline, key=int):
            yield from timeline[step]

    def explain(self, pod: str) -> Explanation:
        """Why a pod (`name` in default, or `namespace/name`) is where it is."""
        namespace, _, name = pod.rpartition("/")
        return explain(self.kept, namespace or "default", name)

    def _rows(self, kind: str) -> Iterable[dict[str, Any]]:
        columns = ["entry", "subresource", "major", "namespace", "name", "object", "node"]
        return (
            self.kept.table.filter(pl.col("kind") == kind)
            .sort("sequence")
            .select(columns)
            .collect()
            .iter_rows(named=True)
        )


def _pods(rows: Iterable[dict[str, Any]]) -> Iterator[tuple[Any, ...]]:
    """One row per life of a pod: a name may be used again after its pod has gone."""
    living: dict[tuple[str, str], dict[str, Any]] = {}
    lives: list[dict[str, Any]] = []
    for row in rows:
        key = row["namespace"], row["name"]
        life = living.get(key)
        if life is None or (row["entry"] == "create" and life["deleted"] is not None):
            life = living[key] = {"key": key, "created": row["major"], "bound": None, "deleted": None, "attempts": 0}
            life["object"] = None
            lives.append(life)
        if row["entry"] == "attempt":
            life["attempts"] += 1
        elif row["entry"] == "delete":
            life["deleted"] = row["major"]
        if row["subresource"] == "binding":
            life["bound"] = row["major"]
        life["object"] = row["object"] or life["object"]
    for life in lives:
        pod = decode(life["object"]) if life["object"] else {}
        spec, status = pod.get("spec") or {}, pod.get("status") or {}
        node = spec.get("nodeName")
        yield (
            *life["key"], node, status.get("phase"), spec.get("priority") or 0, life["created"],
            life["bound"] if life["bound"] is not None or node is None else life["created"],
            life["deleted"], life["attempts"],
        )  # fmt: skip


def _nodes(rows: Iterable[dict[str, Any]], pods: dict[str, int]) -> Iterator[tuple[Any, ...]]:
    seen: dict[str, list[Any]] = {}
    for row in rows:
        life = seen.setdefault(row["name"], [row["major"], None])
        if row["entry"] == "delete":
            life[1] = row["major"]
        elif row["entry"] == "create":
            life[1] = None
    for name, (created, deleted) in seen.items():
        yield name, created, deleted, pods.get(name, 0)
