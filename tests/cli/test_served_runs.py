"""`explain`, `results` and `report` of a Scenario on a server: its whole timeline, before and after a restart.

Tests: cli/options/served_runs.py, control_plane/timeline_api.py
"""

import json
import os
import subprocess
import urllib.request
from pathlib import Path

import pytest

from seatrial.model.documents import encode
from seatrial.results.measure import all_measures
from seatrial.results.run import Run
from tests.examples.playing import SEATRIAL
from tests.examples.serving import SCENARIOS, play, request, wait_for
from tests.outside.processes import Serve
from tests.scenario.playing import create, done, operations, scenario
from tests.scenario.running import node, pod


def call(*arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COLUMNS": "200"}
    return subprocess.run(
        [str(SEATRIAL), *arguments], capture_output=True, text=True, timeout=120, check=check, env=environment
    )


@pytest.fixture
def document() -> dict[str, object]:
    spec = operations(create(1, node("a")), create(1, node("b")), create(1, pod("p")), create(1, pod("big", cpu="64")))
    return scenario(spec)


def test_the_whole_timeline_of_a_served_scenario_is_read(document: dict[str, object], tmp_path: Path) -> None:
    """A Paused Scenario continues its timeline after a restart of the server."""
    with Serve(tmp_path / "state", "--insecure", "--data-dir", str(tmp_path / "data")) as server:
        play(server.url, encode(document), "play")
        asked = json.loads(call("explain", "play", "p", "--server", server.url, "--json").stdout)
        assert asked["attempt"]["nodes"] == ["a", "b"]
        missing = json.loads(call("results", "play", "--server", server.url, "--json").stdout)["missing"]
        assert missing == []
        page = tmp_path / "page.html"
        call("report", "play", "--server", server.url, "--out", str(page))
        assert page.stat().st_size > 100_000
    with Serve(tmp_path / "again", "--insecure", "--data-dir", str(tmp_path / "data")) as server:
        later = [create(2, pod("late")), done(2)]
        patch = {"spec": {"operations": [*operations(*later)["operations"], *document["spec"]["operations"]]}}  # type: ignore[index]
        request(f"{server.url}{SCENARIOS}/play", patch, "PATCH", "application/merge-patch+json")
        wait_for(server.url, "play", ("Succeeded",))
        with urllib.request.urlopen(f"{server.url}{SCENARIOS}/play/timeline", timeout=60) as answer:
            (tmp_path / "timeline.parquet").write_bytes(answer.read())
        (tmp_path / "result.json").write_bytes(encode(request(f"{server.url}{SCENARIOS}/play")))
        run = Run.load(tmp_path)
        assert [(life.name, life.attempts > 0) for life in run.pods] == [("p", True), ("big", True), ("late", True)]
        assert not any(life.brought for life in run.pods)
        assert [row["step"] for row in _rows(run)] == [1, 2]
        request(f"{server.url}{SCENARIOS}/play", method="DELETE")
        ended = call("explain", "play", "--server", server.url, check=False)
        assert (ended.returncode, "404" in ended.stderr) == (2, True)


def _rows(run: Run) -> list[dict[str, object]]:
    return all_measures()["scheduler_work"].compute(run).to_dicts()


def test_a_server_that_does_not_answer_is_named() -> None:
    ended = call("results", "play", "--server", "http://127.0.0.1:1", check=False)
    assert ended.returncode == 2
    assert "no answer" in ended.stderr
