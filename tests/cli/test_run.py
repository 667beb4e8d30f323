"""`seatrial run` on the command line: exit codes, messages, files."""

import json
import os
import signal
from pathlib import Path

import orjson
import pytest
from typer.testing import CliRunner, Result

from seatrial.cli.main import build
from seatrial.cli.terminal.progress import Progress
from seatrial.model.errors import SeatrialError
from seatrial.scenario.spec.kind import API_VERSION
from tests.proofs import proves
from tests.scenario.playing import create, delete, done, operations, scenario
from tests.scenario.running import node, pod

SPEC = operations(create(1, node("a")), create(1, node("b")), create(2, pod("p")), done(3))


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def seatrial(*arguments: str) -> Result:
    return CliRunner().invoke(build(), list(arguments))


def write(spec: dict[str, object], name: str = "scenario.json", **annotations: str) -> str:
    Path(name).write_bytes(orjson.dumps(scenario(spec, **annotations)))
    return name


def refused(*arguments: str) -> str:
    """The message of a command that ends with exit code 2."""
    result = seatrial(*arguments)
    assert isinstance(result.exception, SeatrialError), result.output
    assert not Path("seatrial-out").exists()
    return str(result.exception)


@proves("V1-002", "V2-045")
def test_a_run_writes_its_files_and_says_what_happened() -> None:
    result = seatrial("run", write(SPEC), "--no-report")
    assert result.exit_code == 0
    assert "play: Succeeded (done in step 3)" in result.output
    assert "1 created, 1 scheduled" in result.output
    kept = json.loads(Path("seatrial-out/play/result.json").read_text())
    assert kept["status"]["phase"] == "Succeeded"
    assert Path("seatrial-out/play/timeline.parquet").exists()


@pytest.mark.parametrize("level", ["none", "summary", "full"])
def test_two_runs_write_the_same_report(level: str) -> None:
    pages = []
    for parent in ("one", "other"):
        assert seatrial("run", write(SPEC), "--record", level, "--out", f"{parent}/play").exit_code == 0
        pages.append(Path(parent, "play", "report.html").read_bytes())
    assert pages[0] == pages[1]


@proves("V1-042")
def test_a_scenario_without_done_ends_paused_with_exit_code_0() -> None:
    result = seatrial("run", write(operations(create(1, node("a")))), "--no-report")
    assert result.exit_code == 0
    assert "Paused" in result.output


@proves("V1-044", "V1-029")
def test_a_scenario_that_fails_writes_its_result_and_exits_with_1() -> None:
    result = seatrial("run", write(operations(create(1, node("a"), id="x"), delete(2, pod("none")))), "--no-report")
    assert result.exit_code == 1
    assert 'op-2: pods "none" not found' in result.output
    assert json.loads(Path("seatrial-out/play/result.json").read_text())["status"]["phase"] == "Failed"


@proves("V2-017")
def test_an_unknown_controller_ends_failed() -> None:
    result = seatrial("run", write(operations(create(1, node("a")), simulated=["nobody"])), "--no-report")
    assert result.exit_code == 1
    assert "controller 'nobody' is not known" in result.output


@proves("V1-025")
def test_what_cannot_be_decoded_leaves_no_files() -> None:
    assert "spec.operations[0].step" in refused("run", write(operations({"step": -1})))
    assert "no such file" in refused("run", "nothing.yaml").lower()


def test_quiet_prints_nothing() -> None:
    result = seatrial("run", write(SPEC), "--quiet", "--no-report")
    assert result.output == ""


def test_json_prints_the_summary_as_one_document() -> None:
    result = seatrial("run", write(SPEC), "--json", "--no-report", "--out", "here")
    summary = json.loads(result.output)
    assert summary["pods"]["scheduled"] == 1
    assert summary["files"][0] == "here/result.json"


def test_check_names_every_problem() -> None:
    bad = operations({"id": "x", "step": 1}, {"id": "y", "step": 1, "createOperation": {}})
    result = seatrial("run", write(bad), "--check")
    assert result.exit_code == 1
    assert "operation x" in result.output
    assert "operation y" in result.output
    assert not Path("seatrial-out").exists()


def test_check_warns_of_what_is_probably_not_meant() -> None:
    late = operations(create(5, pod("late"), id="late"), done(3))
    result = seatrial("run", write(late), "--check")
    assert result.exit_code == 0
    assert "operation late: step 5 comes after Done in step 3" in result.output


def test_check_lists_timers_that_never_fire() -> None:
    timed = pod("p")
    timed["metadata"]["annotations"] = {f"{API_VERSION.split('/')[0]}/run-duration": "5m"}
    result = seatrial("run", write(operations(create(1, timed), done(1))), "--check")
    assert "the run time of pods (operation op-1) has no effect" in result.output


def test_expand_shows_generators_as_plain_operations() -> None:
    spec = {**operations(), "generators": [{"step": 1, "count": 2, "createOperation": {"object": node("n-${index}")}}]}
    result = seatrial("run", write(spec), "--check", "--expand")
    assert "name: n-0" in result.output
    assert "name: n-1" in result.output
    assert "generators" not in result.output


def test_controllers_are_listed() -> None:
    names = seatrial("run", "--list-controllers").output.split()
    assert {"scheduler", "deployment", "replicaset", "job", "pod", "node"} <= set(names)


@proves("V1-097")
def test_an_unknown_strategy_ends_any_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UPDATE_SCENARIO_RESULTS_STRATEGY", "Never")
    with pytest.raises(SeatrialError, match="expected AtMovingNextStep, OnPause, OnDone"):
        build.__wrapped__("serve")


@proves("V1-096", "V2-085")
def test_the_strategy_acts_on_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UPDATE_SCENARIO_RESULTS_STRATEGY", "OnDone")
    seatrial("run", write(operations(create(1, node("a")))), "--no-report")
    assert "scenarioResult" not in json.loads(Path("seatrial-out/play/result.json").read_text())["status"]


def test_a_snapshot_is_there_before_the_first_step() -> None:
    bound = {**pod("old"), "spec": {**pod("old")["spec"], "nodeName": "n"}}
    Path("objects.json").write_bytes(orjson.dumps({"items": [node("n"), bound], "kind": "List", "apiVersion": "v1"}))
    assert seatrial("snapshot", "objects.json", "-o", "cluster.yaml").exit_code == 0
    spec = operations(create(3, pod("new")), done(3))
    assert seatrial("run", write(spec), "--snapshot", "cluster.yaml", "--no-report").exit_code == 0
    timeline = json.loads(Path("seatrial-out/play/result.json").read_text())["status"]["scenarioResult"]["timeline"]
    names = [entry["podScheduled"]["boundTo"] for entry in timeline["3"] if "podScheduled" in entry]
    assert names == ["n"]
    assert not [entry for entry in timeline["3"] if "old" in json.dumps(entry.get("create", {}))]
    told = json.loads(seatrial("results", "seatrial-out/play", "pods", "--json").output)
    assert [(row["pod"], row["node"], row["bound"]) for row in told["pods"]["rows"]] == [
        ("default/old", "n", 3),
        ("default/new", "n", 3),
    ]


def test_a_snapshot_has_no_secrets() -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"a": "c2VjcmV0"}}
    Path("objects.json").write_bytes(orjson.dumps(secret))
    seatrial("snapshot", "objects.json", "-o", "cluster.yaml")
    assert "c2VjcmV0" not in Path("cluster.yaml").read_text()


def test_explain_answers_from_the_files() -> None:
    seatrial("run", write(SPEC), "--no-report")
    result = seatrial("explain", "seatrial-out/play", "p")
    assert result.output.startswith("default/p went to ")
    for word in ("NodeResourcesFit", "raw", "normalised", "weight", "final"):
        assert word in result.output
    assert isinstance(seatrial("explain", "seatrial-out/play", "nobody").exception, SeatrialError)


def test_an_interrupted_run_leaves_a_partial_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C ends the play between two loops, where everything is whole."""
    ticks = iter(range(1000))

    def tick(progress: Progress, run: object) -> None:
        if next(ticks) == 3:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(Progress, "tick", tick)
    result = seatrial("run", write(SPEC), "--no-report")
    assert result.exit_code == 1
    status = json.loads(Path("seatrial-out/play/result.json").read_text())["status"]
    assert status["phase"] == "Failed"
    assert "the result is partial" in status["message"]
    assert status["scenarioResult"]["timeline"]


@pytest.mark.parametrize(("gates", "scheduled"), [("", 0), ("TaintTolerationComparisonOperators=true", 1)])
def test_a_gate_is_switched_on(gates: str, scheduled: int) -> None:
    tainted, tolerant = node("a"), pod("p")
    tainted["spec"] = {"taints": [{"key": "level", "value": "5", "effect": "NoSchedule"}]}
    tolerant["spec"]["tolerations"] = [{"key": "level", "operator": "Gt", "value": "3", "effect": "NoSchedule"}]
    spec = operations(create(1, tainted), create(1, tolerant), done(2))
    result = seatrial("run", write(spec), "--no-report", "--feature-gates", gates)
    assert f"1 created, {scheduled} scheduled" in result.output


@pytest.mark.parametrize("gates", ["GangScheduling=true", "NoSuchGate=true", "GangScheduling"])
def test_a_gate_that_cannot_be_switched_on_is_named(gates: str) -> None:
    message = refused("run", write(SPEC), "--feature-gates", gates)
    assert gates.partition("=")[0] in message
