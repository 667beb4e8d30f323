"""Reading a result.json without its timeline, where timeline.parquet has it."""

import json
from pathlib import Path
from typing import Any

import pytest

from seatrial.api import run
from seatrial.model.documents import encode, encode_arrays
from seatrial.results import outlines
from seatrial.results.outlines import outline_of
from seatrial.results.result import Result
from seatrial.results.run import Run
from seatrial.web.payload import payload
from tests.scenario.playing import create, done, operations, scenario
from tests.scenario.running import node, pod


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run whose spec has an object that looks like the result of a Scenario."""
    items = create(1, node("n")), create(2, pod("p")), create(2, pod("q", cpu="64"))
    run(scenario(operations(*items, done(3)))).save(tmp_path)
    document = json.loads((tmp_path / "result.json").read_bytes())
    lookalike = {"scenarioResult": {"simulatorVersion": "1", "timeline": {}}}
    document["spec"]["operations"][0]["createOperation"]["object"]["status"] |= lookalike
    (tmp_path / "result.json").write_bytes(encode(document))
    return tmp_path


def test_an_outline_is_the_scenario_with_an_empty_timeline(folder: Path) -> None:
    document = json.loads((folder / "result.json").read_bytes())
    document["status"]["scenarioResult"]["timeline"] = {}
    assert json.loads(outline_of(folder / "result.json") or b"") == document


def test_an_outline_is_found_across_the_blocks_of_a_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = outline_of(folder / "result.json")
    monkeypatch.setattr(outlines, "BYTES_AT_ONCE", 7)
    assert found is not None
    assert outline_of(folder / "result.json") == found


@pytest.mark.parametrize("change", ["indented", "field after the timeline", "no result", "line after the end", "empty"])
def test_a_file_of_another_layout_is_read_whole(folder: Path, change: str) -> None:
    file = folder / "result.json"
    document: dict[str, Any] = json.loads(file.read_bytes())
    if change == "field after the timeline":
        document["status"]["message"] = document["status"].pop("message", "late")
    if change == "no result":
        del document["status"]["scenarioResult"]
    written = json.dumps(document, indent=2).encode() if change == "indented" else encode(document)
    file.write_bytes(b"" if change == "empty" else written + b"\n" * (change == "line after the end"))
    assert outline_of(file) is None
    if change == "field after the timeline":
        assert Run.load(folder).message == document["status"]["message"]


def test_the_timeline_of_a_result_is_not_read_where_a_table_has_it(folder: Path) -> None:
    file = folder / "result.json"
    before = payload(Run.load(folder))
    begun, end = file.read_bytes().rsplit(b'"timeline":{', 1)
    file.write_bytes(begun + b'"timeline":{' + b"x" * (len(end) - 5) + b"]}}}}")
    after = payload(Run.load(folder))
    assert encode_arrays(after["pods"]) == encode_arrays(before["pods"])
    assert len(after["details"]) == len(before["details"]) > 0


def test_a_result_that_was_loaded_has_its_whole_scenario(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    loaded, copy = Result.load(folder), tmp_path_factory.mktemp("copy")
    assert loaded.scenario == json.loads((folder / "result.json").read_bytes())
    loaded.save(copy)
    assert (copy / "result.json").read_bytes() == (folder / "result.json").read_bytes()


def test_attempts_without_a_table_are_those_of_the_whole_result(tmp_path: Path) -> None:
    items = create(1, node("n")), create(2, pod("p")), create(2, pod("q", cpu="64")), done(3)
    run(scenario(operations(*items)), record="none").save(tmp_path)
    loaded = Run.load(tmp_path)
    assert b'"podScheduled"' not in loaded.data
    assert {pod for (pod, _), _ in loaded.attempts()} == {"default/p", "default/q"}
