"""Reading a run back: from a folder, from a plain result.json, and what is wrong with neither."""

from pathlib import Path
from typing import Any

import pytest

from seatrial.model.documents import encode
from seatrial.model.errors import ConfigError
from seatrial.results.run import Run
from tests.results.conftest import node, pod


def scenario(timeline: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    return {
        "kind": "Scenario",
        "metadata": {"name": "plain"},
        "status": {"phase": "Succeeded", "scenarioResult": {"timeline": timeline}},
    }


def created(document: dict[str, Any], step: int) -> dict[str, Any]:
    return {"id": "x", "step": step, "create": {"operation": {"object": document}, "result": document}}


def test_a_plain_result_of_the_first_version_tells_lives(tmp_path: Path) -> None:
    scheduled = {"pod": pod("p", "1", "n1"), "boundTo": "n1", "scheduleResult": [{"step": 2}]}
    timeline = {
        "2": [created(pod("p", "1"), 2), {"id": "y", "step": 2, "podScheduled": scheduled}],
        "1": [created(node("n1", "a", "1"), 1)],
    }
    file = tmp_path / "result.json"
    file.write_bytes(encode(scenario(timeline)))
    run = Run.load(file)
    assert [step.major for step in run.steps] == [1, 2]
    assert (run.pods[0].node, run.pods[0].bound, run.pods[0].attempts) == ("n1", 2, 1)
    assert "timeline.parquet" in run.lacks


def test_a_preempted_pod_of_a_plain_result_has_its_preemptor(tmp_path: Path) -> None:
    bound = pod("p", "1", "n1")
    preempted = {"pod": bound, "boundTo": "n1", "preemptedBy": "default/q"}
    timeline = {"1": [created(node("n1", "a", "1"), 1), created(bound, 1), {"id": "z", "podPreempted": preempted}]}
    (tmp_path / "result.json").write_bytes(encode(scenario(timeline)))
    (life,) = Run.load(tmp_path).pods
    assert (life.preempted_by, life.preempted, life.ended) == ("default/q", 1, 1)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"{", "is not JSON"),
        (b"[]", "expected a Scenario"),
        (b'{"kind": "Pod"}', "expected a Scenario"),
        (b'{"kind": "Scenario", "metadata": {}}', "metadata.name: is required"),
    ],
)
def test_a_file_that_is_no_result_is_refused(tmp_path: Path, text: bytes, why: str) -> None:
    (tmp_path / "result.json").write_bytes(text)
    with pytest.raises(ConfigError, match=why):
        Run.load(tmp_path)


def test_a_missing_result_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        Run.load(tmp_path / "nothing")


def test_a_broken_timeline_is_refused(tmp_path: Path) -> None:
    (tmp_path / "result.json").write_bytes(encode(scenario({})))
    (tmp_path / "timeline.parquet").write_bytes(b"nonsense")
    with pytest.raises(ConfigError, match="cannot be read as a timeline"):
        Run.load(tmp_path)
