"""`seatrial compare`, `results` and `measures` from the outside.

Tests: results/comparison/*.py, cli/results.py, cli/terminal/comparison.py
"""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from seatrial.cli import main
from seatrial.model.errors import ConfigError, SeatrialError
from seatrial.scenario.engine.controller_registry import REGISTRY

MOST = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}, {name: memory, weight: 1}]}}
"""
WEIGHT = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {score: {enabled: [{name: NodeResourcesFit, weight: 50}]}}
"""


def scenario(name: str = "fill", pods: int = 12) -> str:
    amounts = '{cpu: "4", memory: 8Gi, pods: "20"}'
    nodes = "\n".join(
        f"  - {{step: 1, createOperation: {{object: {{apiVersion: v1, kind: Node, metadata: {{name: n{i}}}, "
        f"status: {{allocatable: {amounts}, capacity: {amounts}}}}}}}}}"
        for i in range(4)
    )
    requests = "{requests: {cpu: 500m, memory: 256Mi}}"
    work = "\n".join(
        f"  - {{step: 2, createOperation: {{object: {{apiVersion: v1, kind: Pod, "
        f"metadata: {{name: p{i}, namespace: default}}, "
        f"spec: {{containers: [{{name: c, image: i, resources: {requests}}}]}}}}}}}}"
        for i in range(pods)
    )
    return f"""
apiVersion: simulation.kube-scheduler-simulator.x-k8s.io/v1alpha1
kind: Scenario
metadata: {{name: {name}}}
spec:
  controllers: {{simulationControllers: {{enabled: [{{name: scheduler}}]}}}}
  operations:
{nodes}
{work}
  - {{step: 3, doneOperation: {{}}}}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a scenario, two configurations and a run with each."""
    folder = tmp_path_factory.mktemp("compare")
    (folder / "fill.yaml").write_text(scenario())
    (folder / "other.yaml").write_text(scenario("other", 3))
    (folder / "most.yaml").write_text(MOST)
    (folder / "weight.yaml").write_text(WEIGHT)
    for name, config in (("least", None), ("most", "most.yaml")):
        more = ["--scheduler-config", str(folder / config)] if config else []
        assert call("run", str(folder / "fill.yaml"), "--out", str(folder / name), "--quiet", *more) == 0
    assert call("run", str(folder / "other.yaml"), "--out", str(folder / "other"), "--quiet") == 0
    return folder


def call(*arguments: str) -> int:
    return CliRunner().invoke(main.build(), list(arguments), catch_exceptions=False).exit_code


def output(*arguments: str) -> str:
    result = CliRunner().invoke(main.build(), list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_binpacking_uses_fewer_nodes_and_is_less_balanced(folder: Path) -> None:
    told = json.loads(
        output("compare", str(folder / "least"), str(folder / "most"), "--format", "json", "--out", str(folder))
    )
    deltas = {row["name"]: row["deltas"][0] for row in told["measures"]}
    assert deltas["nodes_used"] < 0
    assert deltas["balance_cpu"] > 0
    assert deltas["allocation_cpu"] == 0
    assert (folder / "compare.html").stat().st_size > 100_000


def test_a_difference_is_told_with_its_reason(folder: Path) -> None:
    told = json.loads(
        output("compare", str(folder / "least"), str(folder / "most"), "--format", "json", "--out", str(folder))
    )
    assert told["differences"][0]["reason"].startswith("NodeResourcesFit now prefers n0")


def test_a_changed_weight_is_named(folder: Path) -> None:
    configs = ["--scheduler-config", "default", "--scheduler-config", str(folder / "weight.yaml")]
    text = output("compare", "--scenario", str(folder / "fill.yaml"), *configs, "-f", "markdown", "--out", str(folder))
    assert "### default against weight" in text


@pytest.mark.parametrize("text", [None, "kind: Nothing\n", "{", MOST.replace("MostAllocated", "Nonsense")])
def test_all_configurations_are_read_before_the_first_run(folder: Path, tmp_path: Path, text: str | None) -> None:
    bad = tmp_path / "bad.yaml"
    if text is not None:
        bad.write_text(text)
    configs = ["--scheduler-config", "default", "--scheduler-config", str(bad)]
    arguments = ["compare", "--scenario", str(folder / "fill.yaml"), *configs, "--out", str(tmp_path)]
    result = CliRunner().invoke(main.build(), arguments)
    assert isinstance(result.exception, SeatrialError)
    assert "bad.yaml" in str(result.exception)
    assert "running" not in result.output


def test_a_comparison_has_the_controllers_of_the_scenario(tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text(
        "from seatrial.scenario.engine.user_controllers import UserController\n"
        "class Spare(UserController):\n"
        "    name = 'spare'\n"
        "    watches = ('v1/Pod',)\n"
        "    def reconcile(self, cluster, object):\n"
        "        room = {'cpu': '4', 'memory': '8Gi', 'pods': '20'}\n"
        "        status = {'allocatable': room, 'capacity': room}\n"
        "        meta = {'name': 'spare'}\n"
        "        cluster.create_once({'apiVersion': 'v1', 'kind': 'Node', 'metadata': meta, 'status': status})\n"
    )
    play = tmp_path / "fill.yaml"
    play.write_text(scenario().replace("[{name: scheduler}]", "[{name: scheduler}, {name: spare}]"))
    arguments = ["compare", "--scenario", str(play), "--scheduler-config", "default", "--scheduler-config", "default"]
    try:
        told = json.loads(output(*arguments, "--controllers", str(own), "-f", "json", "--out", str(tmp_path)))
    finally:
        REGISTRY.own.pop("spare", None)
    assert {row["name"]: row["values"] for row in told["measures"]}["nodes_used"][0] > 0


def test_seeds_give_a_spread(folder: Path) -> None:
    configs = ["--scheduler-config", "default", "--scheduler-config", str(folder / "most.yaml")]
    told = json.loads(
        output(
            "compare", "--scenario", str(folder / "fill.yaml"), *configs, "--seeds", "3", "-f", "json",
            "--out", str(folder),
        )
    )  # fmt: skip
    spread = [row for row in told["spread"] if row["name"] == "nodes_used"]
    assert [row["run"] for row in spread] == [0, 1]
    assert all(row["min"] <= row["median"] <= row["max"] for row in spread)


def test_a_crossed_threshold_ends_with_one_and_junit_tells(folder: Path) -> None:
    arguments = ["compare", str(folder / "least"), str(folder / "most"), "--out", str(folder)]
    junit = folder / "junit.xml"
    assert call(*arguments, "--fail-if", "balance_cpu > 1", "--junit", str(junit)) == 1
    assert 'failures="1"' in junit.read_text()
    assert call(*arguments, "--fail-if", "allocation_cpu < -1%") == 0


@pytest.fixture(scope="module")
def failed(folder: Path) -> Path:
    """A run of the same scenario that was given up."""
    out = folder / "failed"
    assert call("run", str(folder / "fill.yaml"), "--out", str(out), "--quiet", "--max-loops", "1") == 1
    return out


FORMATS = ["table", "markdown", "json"]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("more", [[], ["--fail-if", "nodes_used > 100"]])
def test_a_run_that_failed_is_named_and_ends_with_one(folder: Path, failed: Path, format: str, more: list[str]) -> None:
    arguments = ["compare", str(folder / "least"), str(failed), "--out", str(folder), "-f", format, *more]
    result = CliRunner().invoke(main.build(), arguments, catch_exceptions=False)
    assert result.exit_code == 1
    assert "seatrial: failed: Failed: the step" in result.stderr
    assert "better " not in result.stdout and " worse" not in result.stdout
    assert "over the line" not in result.stderr
    if format == "json":
        (told,) = json.loads(result.stdout)["failed"]
        assert told["run"] == "failed" and told["message"].startswith("the step")
    else:
        assert "failed Failed" in result.stdout or "**failed: Failed: the step" in result.stdout


def test_a_run_that_failed_is_a_failure_in_junit(folder: Path, failed: Path) -> None:
    junit = folder / "failed.xml"
    arguments = ["compare", str(folder / "least"), str(failed), "--out", str(folder), "--junit", str(junit)]
    assert call(*arguments, "--fail-if", "nodes_used > 100") == 1
    assert 'tests="2" failures="1"' in junit.read_text()
    assert 'name="failed did not fail"' in junit.read_text()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["least", "other"], "is another scenario than that of least"),
        (["least"], "two or more runs are needed"),
        (["least", "most", "--fail-if", "nonsense"], "is not a threshold"),
        (["least", "most", "--fail-if", "speed < 1"], "'speed' is not known"),
        (["least", "most", "--measure", "speed"], "'speed' is not known"),
        (["least", "missing"], "cannot be read"),
        (["least", "most", "--seeds", "3"], "--seeds: goes with --scenario"),
        (["least", "most", "--scheduler-config", "default"], "--scheduler-config: goes with --scenario"),
        (["least", "most", "--controllers", "own.py"], "--controllers: goes with --scenario"),
        (["least", "--scenario", "fill.yaml"], "either runs or --scenario"),
    ],
)
def test_what_cannot_be_compared_is_said(folder: Path, arguments: list[str], why: str) -> None:
    paths = [str(folder / word) if word in ("least", "most", "other", "missing") else word for word in arguments]
    with pytest.raises(ConfigError, match=why):
        call("compare", *paths, "--out", str(folder))


@pytest.mark.parametrize(
    "command",
    [("run", "fill.yaml"), ("compare", "--scenario", "fill.yaml", "--scheduler-config", "default",
     "--scheduler-config", "default")],
    ids=("run", "compare"),
)  # fmt: skip
def test_a_threshold_on_an_unknown_number_is_refused_before_anything_runs(
    folder: Path, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("seatrial.scenario.ScenarioRun.__init__", lambda *_, **__: pytest.fail("a run was made"))
    words = [str(folder / word) if word == "fill.yaml" else word for word in command]
    with pytest.raises(ConfigError, match=r"'node_used' is not known; known are .*nodes_used"):
        call(*words, "--fail-if", "value(node_used) > 1")


def test_results_are_printed_and_written(folder: Path, tmp_path: Path) -> None:
    told = json.loads(output("results", str(folder / "least"), "allocation", "--json"))
    assert told["allocation"]["summary"]["allocation_cpu"] == 37.5
    output("results", str(folder / "least"), "--csv", str(tmp_path), "--parquet", str(tmp_path))
    assert (tmp_path / "pods.csv").read_text().startswith("pod,owner,created,bound")
    assert (tmp_path / "pods.parquet").exists()
    assert "allocation" in output("results", str(folder / "least"), "allocation")


def test_measures_are_listed_with_their_definition() -> None:
    assert "Allocation rate of the whole cluster." in output("measures")


def test_an_explanation_without_attempts_is_json_too(folder: Path) -> None:
    out = str(folder / "unrecorded")
    assert call("run", str(folder / "fill.yaml"), "--out", out, "--quiet", "--no-report", "--record", "none") == 0
    told = json.loads(output("explain", out, "p1", "--json"))
    assert told["attempt"]["nodes"] == []
    assert "attempts were not recorded (--record none)" in told["sentence"]
