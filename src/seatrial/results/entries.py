"""The entries of a run in order, read from `timeline.parquet` or, with less in it, from a plain `result.json`."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from seatrial.model.documents import Document, decode, encode
from seatrial.model.errors import ConfigError
from seatrial.timeline import DICTIONARY

START = 1_893_456_000_000_000
"""Where virtual time begins; a plain result has no times, so its entries all have this one."""

READ = (
    "sequence", "major", "minor", "time", "writer", "entry", "id", "kind", "namespace", "name", "object",
    "outcome", "node", "message", "visited", "feasible", "rejected", "victims", "attempt",
)  # fmt: skip
SLICE = 50_000
POD_ENTRIES = {"podScheduled": "bound", "podUnscheduled": "unscheduled", "podPreempted": "preempted"}


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that happened."""

    sequence: int
    major: int
    minor: int
    time: int
    writer: str
    entry: str
    """create, patch, delete, done, status, write, attempt or unscheduled"""
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

    @property
    def object(self) -> Document | None:
        """The object afterwards, decoded."""
        return None if self.data is None else decode(self.data)


def read_timeline(path: Path) -> tuple[pl.LazyFrame, Document]:
    """The table of a run and the dictionary of its cells."""
    try:
        frame = pl.scan_parquet(path, glob=False)
        metadata = pl.read_parquet_metadata(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise ConfigError(str(path), "", f"is not a timeline: {error}") from error
    if DICTIONARY not in metadata:
        raise ConfigError(str(path), "", f"is not a timeline: it has no {DICTIONARY} in its metadata")
    return frame, decode(metadata[DICTIONARY])


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


def entries_of_result(scenario: Document) -> Iterator[Entry]:
    """The entries of a plain result, either spelling; attempts are counted without details."""
    timeline = ((scenario.get("status") or {}).get("scenarioResult") or {}).get("timeline") or {}
    sequence = 0
    for step in sorted(timeline, key=int):
        for item in timeline[step]:
            for entry in _entries_of_item(item, int(step), sequence):
                sequence += 1
                yield entry


def _entries_of_item(item: Document, major: int, sequence: int) -> Iterator[Entry]:
    step = item.get("step")
    minor = step.get("minor", 0) if isinstance(step, dict) else 0
    id = item.get("id") or item.get("ID") or ""
    for verb in ("create", "patch", "delete", "done"):
        if item.get(verb):
            yield _operation(item[verb], verb, id, sequence, major, minor)
    for field, meaning in POD_ENTRIES.items():
        if item.get(field):
            yield _pod_entry(item[field], meaning, id, sequence, major, minor)


def _operation(body: Document, verb: str, id: str, sequence: int, major: int, minor: int) -> Entry:
    operation, result = body.get("operation") or {}, body.get("result") or {}
    target: Document = result or operation.get("object") or {}
    meta = target.get("metadata") or operation.get("objectMeta") or {}
    kind = target.get("kind") or (operation.get("typeMeta") or {}).get("kind") or ""
    return Entry(
        sequence, major, minor, START, "", verb, id, kind, meta.get("namespace", ""), meta.get("name", ""),
        _text(result) if result else None,
    )  # fmt: skip


def _pod_entry(body: Document, meaning: str, id: str, sequence: int, major: int, minor: int) -> Entry:
    pod: Document = body.get("pod") or {}
    meta = pod.get("metadata") or {}
    victims = (body.get("preemptedBy") or "",) if meaning == "preempted" else ()
    return Entry(
        sequence, major, minor, START, "scheduler", meaning, id, "Pod", meta.get("namespace", ""),
        meta.get("name", ""), _text(pod), node=body.get("boundTo") or "", victims=victims,
        attempt=len(body.get("scheduleResult") or []),
    )  # fmt: skip


def _text(document: Any) -> str:
    return encode(document).decode()
