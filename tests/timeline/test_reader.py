"""The kept timeline: lossless, readable by name, and the same in memory and on disk.

Tests: timeline/cells.py, timeline/decisions.py
"""

from pathlib import Path
from typing import Any

import orjson
import polars as pl
import pytest

from seatrial import Result
from seatrial.controllers.stages.lifecycle import default_stages
from seatrial.model.errors import ConfigError
from seatrial.timeline.columns import COLUMNS
from seatrial.timeline.diffs import merge_diff
from seatrial.timeline.reader import TimelineReader
from seatrial.timeline.rows import ATTEMPT_COLUMNS, ROW_COLUMNS, FolderSink, Rows
from tests.proofs import proves
from tests.scenario.playing import create, done, operations
from tests.scenario.running import Run, node, pod

NODES = [create(1, node("a")), create(1, node("b"))]
SPEC = operations(*NODES, create(2, pod("p")), create(2, pod("q", cpu="64")), done(2))


def test_every_write_and_every_attempt_is_a_row() -> None:
    run = Run(SPEC)
    frame = run.result.timeline
    assert list(frame.schema) == list(COLUMNS)
    assert frame["sequence"].to_list() == list(range(len(frame)))
    attempts = frame.filter(pl.col("entry") == "attempt")
    assert attempts["name"].to_list() == ["p", "q", "q"]
    assert set(frame.filter(pl.col("entry") == "status")["writer"]) >= {"scheduler", "pod"}


def test_objects_are_kept_as_the_store_has_them() -> None:
    run = Run(SPEC)
    rows = run.result.timeline.filter((pl.col("name") == "p") & pl.col("object").is_not_null())
    assert orjson.loads(rows["object"][-1]) == run.get("Pod", "p")


def test_two_runs_in_one_process_have_the_same_rows() -> None:
    """Also the very bytes of objects: what one run remembers of stages is not seen by the next."""
    default_stages.cache_clear()
    spec = operations(create(1, node("a", rack="r7")), create(2, pod("p")), done(3))
    assert Run(spec).result.timeline.equals(Run(spec).result.timeline)


def attempts_of(result: Result) -> list[dict[str, Any]]:
    return [attempt.document() for attempt in result.explain("p").attempts]


@proves("V1-098", "V2-076")
def test_a_saved_result_says_the_same(tmp_path: Path) -> None:
    """Everything is answered from the files alone."""
    run = Run(SPEC)
    run.result.save(tmp_path)
    again = Result.load(tmp_path)
    assert again.timeline.equals(run.result.timeline)
    assert again.pods.equals(run.result.pods)
    assert attempts_of(again) == attempts_of(run.result)
    assert again.scenario == run.result.scenario


def test_attempts_on_the_wire_and_in_the_table_agree() -> None:
    run = Run(SPEC)
    wire = run.entries("podScheduled")[0]["podScheduled"]["scheduleResult"][0]
    (kept,) = run.result.explain("p").attempts
    assert list(kept.nodes) == wire["allCandidateNodes"]
    assert kept.filter == wire["pluginResults"]["filter"]
    for name, plugins in wire["pluginResults"]["score"].items():
        for plugin, score in plugins.items():
            found = kept.score[name][plugin]
            assert [found.raw, found.normalized, found.final] == list(score.values())


@pytest.mark.parametrize(("level", "attempts", "cells"), [("none", 0, 0), ("summary", 3, 0), ("full", 3, 3)])
def test_the_level_says_what_is_kept(level: str, attempts: int, cells: int) -> None:
    run = Run(SPEC, record=level)
    frame = run.result.timeline.filter(pl.col("entry") == "attempt")
    assert len(frame) == attempts
    assert frame["nodes"].is_not_null().sum() == cells
    assert run.status["phase"] == "Succeeded"


def test_a_summary_keeps_reasons_and_the_best_nodes() -> None:
    frame = Run(SPEC, record="summary").result.timeline.filter(pl.col("entry") == "attempt")
    scheduled, failed, *_ = frame.to_dicts()
    assert {best["node"] for best in scheduled["best"]} == {"a", "b"}
    assert failed["reasons"] == [{"reason": "Insufficient cpu", "count": 2}]


def test_rows_stream_through_files(tmp_path: Path) -> None:
    rows = Rows(FolderSink(tmp_path))
    row = (1, 0, 0, "w", "create", None, "v1", "Pod", "ns", "n", 1, "", None, b"{}", None)
    for number in range(5):
        rows.add(row)
        if number == 2:
            rows.flush()
    assert rows.table().collect()["sequence"].to_list() == [0, 1, 2, 3, 4]
    assert len(list(tmp_path.iterdir())) == 2


def test_lists_may_be_missing_empty_or_long() -> None:
    rows = Rows()
    row = (None,) * len(ROW_COLUMNS)
    rows.add(row)
    for value in (None, [], [1, 2, 3]):
        given: dict[str, object] = {"nodes": value, "reasons": value and [("why", 2)]}
        rows.add(row, tuple(given.get(name) for name in ATTEMPT_COLUMNS))
    frame = rows.table().collect()
    assert frame["nodes"].to_list() == [None, None, [], [1, 2, 3]]
    assert frame["reasons"].to_list() == [None, None, [], [{"reason": "why", "count": 2}]]
    assert dict(frame.schema) == {name: pl.Series([], dtype=dtype).dtype for name, dtype in COLUMNS.items()}


def test_another_file_is_no_timeline(tmp_path: Path) -> None:
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "x.parquet")
    with pytest.raises(ConfigError, match="not a timeline"):
        TimelineReader.load(tmp_path / "x.parquet")
    (tmp_path / "y.parquet").write_text("nothing")
    with pytest.raises(ConfigError, match="cannot be read"):
        TimelineReader.load(tmp_path / "y.parquet")


def test_a_change_is_told_as_the_patch_that_makes_it() -> None:
    old = {"metadata": {"name": "a", "labels": {"x": "1", "y": "2"}, "resourceVersion": "1"}, "status": {"a": 1}}
    new = {"metadata": {"name": "a", "labels": {"x": "3"}, "resourceVersion": "2"}, "status": {"a": 2}}
    assert merge_diff(old, new) == {"metadata": {"labels": {"y": None, "x": "3"}}}
