"""The sides of `seatrial compare`: SchedulerSimulations, Volcano's configurations, outside programs, several seeds."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from seatrial.cli.main import build
from seatrial.model.errors import ConfigError
from seatrial.results.comparison.comparison import Comparison, Number
from seatrial.results.comparison.significance import Significance
from seatrial.results.run import Run
from seatrial.web.comparison import page_parts
from tests.cli.test_compare import MOST, WEIGHT, scenario
from tests.proofs import proves

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
VOLCANO = EXAMPLES / "volcano-reclaim"
PROGRAM = [sys.executable, "-c", "from seatrial.cli.main import main; main()"]


def compare(*arguments: object, out: Path) -> dict[str, Any]:
    result = CliRunner().invoke(build(), ["compare", *map(str, arguments), "-f", "json", "--out", str(out)])
    if result.exception is not None:
        raise result.exception
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def values(compared: dict[str, Any], name: str) -> list[float]:
    (found,) = (measure["values"] for measure in compared["measures"] if measure["name"] == name)
    return list(found)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "fill.yaml").write_text(scenario())
    (tmp_path / "most.yaml").write_text(MOST)
    (tmp_path / "weight.yaml").write_text(WEIGHT)
    return tmp_path


@proves("S-002")
def test_simulations_are_sides(tmp_path: Path) -> None:
    """The same scenario with two schedulers, from two objects."""
    compared = compare(EXAMPLES / "spread-or-binpack/simulation.yaml", out=tmp_path)
    assert compared["runs"] == ["spread", "binpack"]
    assert values(compared, "nodes_used") == [10, 4]


def test_a_simulation_is_compared_with_a_finished_run(tmp_path: Path) -> None:
    path = EXAMPLES / "spread-or-binpack"
    run = ["run", str(path / "scenario.yaml"), "--out", str(tmp_path / "before"), "--quiet", "--no-report"]
    assert CliRunner().invoke(build(), run).exit_code == 0
    compared = compare(tmp_path / "before", path / "simulation.yaml", out=tmp_path)
    assert compared["runs"] == ["before", "spread", "binpack"]


def test_configurations_of_volcano_are_sides(tmp_path: Path) -> None:
    conf = VOLCANO / "volcano-scheduler.conf"
    plain = yaml.safe_load(conf.read_text())
    plain["actions"] = plain["actions"].replace("reclaim, ", "").replace(", reclaim", "")
    assert plain["actions"] != yaml.safe_load(conf.read_text())["actions"]
    (tmp_path / "plain.conf").write_text(yaml.safe_dump(plain))
    compared = compare(
        "--scenario", VOLCANO / "scenario.yaml", "--volcano-config", conf, "--volcano-config", tmp_path / "plain.conf",
        out=tmp_path,
    )  # fmt: skip
    assert compared["runs"] == ["volcano-scheduler", "plain"]
    reclaimed, kept = values(compared, "preemptions")
    assert reclaimed > kept == 0


def test_a_configuration_of_volcano_needs_a_scenario_with_volcano(folder: Path) -> None:
    with pytest.raises(ConfigError, match="does not name the controller volcano"):
        compare(
            "--scenario", folder / "fill.yaml", "--scheduler-config", "default",
            "--volcano-config", VOLCANO / "volcano-scheduler.conf", out=folder,
        )  # fmt: skip


def test_an_outside_program_is_a_side_with_several_seeds(tmp_path: Path) -> None:
    path = EXAMPLES / "outside-scheduler"
    command = f"scheduler={sys.executable} {path / 'scheduler.py'}"
    compared = compare(
        "--scenario", path / "scenario.yaml", "--scheduler-config", "default", "--outside", command, "--seeds", 2,
        out=tmp_path,
    )  # fmt: skip
    assert {row["run"] for row in compared["spread"]} == {0, 1}
    assert {row["pairs"] for row in compared["significance"]} == {2}


def test_every_difference_over_seeds_has_its_significance(folder: Path) -> None:
    compared = compare(
        "--scenario", folder / "fill.yaml", "--scheduler-config", "default",
        "--scheduler-config", folder / "most.yaml", "--seeds", 6, out=folder,
    )  # fmt: skip
    tested = {row["name"]: row for row in compared["significance"]}
    assert tested["nodes_used"] == {"name": "nodes_used", "run": 1, "pairs": 6, "p": 2 / 2**6, "significant": True}
    assert tested["pods_bound"]["p"] == 1.0
    assert not tested["pods_bound"]["significant"]


def test_too_few_seeds_call_nothing_better(folder: Path) -> None:
    arguments = ["--scenario", folder / "fill.yaml", "--scheduler-config", "default", "--scheduler-config"]
    result = CliRunner().invoke(
        build(),
        [*map(str, ["compare", *arguments, folder / "most.yaml", "--out", folder]), "--seeds", "3", "-f", "markdown"],
    )
    row = next(line for line in result.stdout.splitlines() if line.startswith("| nodes_used"))
    assert "not significant, p=0.25" in row
    assert "better" not in row


def test_the_page_names_p_and_calls_luck_neither_better_nor_worse() -> None:
    numbers = tuple(Number(name, "m", "points", "lower", (2.0, 1.0)) for name in ("sure", "luck"))
    tested = (Significance("sure", 1, 6, 0.031), Significance("luck", 1, 6, 0.4))
    run = Run("a", b"{}")
    shown, _, _ = page_parts(Comparison((run, run), numbers, (), (), tested))
    assert shown == [
        {"measure": "sure", "unit": "points p = 0.031", "better": "lower", "values": [2.0, 1.0]},
        {"measure": "luck", "unit": "points p = 0.4", "better": "", "values": [2.0, 1.0]},
    ]


def test_a_changed_weight_is_the_reason_of_a_difference(tmp_path: Path) -> None:
    """Two plugins disagree on two nodes; their weights decide."""
    (tmp_path / "fill.yaml").write_text(_disagreement())
    (tmp_path / "weight.yaml").write_text(_weight(5))
    compared = compare(
        "--scenario", tmp_path / "fill.yaml", "--scheduler-config", "default",
        "--scheduler-config", tmp_path / "weight.yaml", out=tmp_path,
    )  # fmt: skip
    (difference,) = compared["differences"]
    assert difference["nodes"] == ["preferred", "empty"]
    assert difference["reason"].startswith("NodeResourcesFit weight 1→5: empty overtakes preferred by ")


def test_a_node_that_is_refused_is_a_reason_with_its_plugin(tmp_path: Path) -> None:
    (tmp_path / "fill.yaml").write_text(_disagreement())
    document = yaml.safe_load(_weight(1))
    document["profiles"][0]["pluginConfig"] = [
        {"name": "NodeAffinity", "args": {"addedAffinity": _required("kubernetes.io/hostname", "empty")}}
    ]
    (tmp_path / "added.yaml").write_text(yaml.safe_dump(document))
    compared = compare(
        "--scenario", tmp_path / "fill.yaml", "--scheduler-config", "default",
        "--scheduler-config", tmp_path / "added.yaml", out=tmp_path,
    )  # fmt: skip
    (difference,) = compared["differences"]
    assert difference["reason"].startswith("NodeAffinity refuses preferred (")
    assert difference["reason"].endswith(" in the second run")


def _required(label: str, value: str) -> dict[str, Any]:
    expression = {"key": label, "operator": "In", "values": [value]}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    return {"requiredDuringSchedulingIgnoredDuringExecution": terms}


def _weight(weight: int) -> str:
    enabled = {"multiPoint": {"enabled": [{"name": "NodeResourcesFit", "weight": weight}]}}
    profile = {"schedulerName": "default-scheduler", "plugins": enabled}
    return yaml.safe_dump(
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [profile],
        }
    )


def _disagreement() -> str:
    """A pod that prefers a node by affinity, which is fuller than the other one."""
    room = {"cpu": "4", "memory": "8Gi", "pods": "20"}
    objects: list[dict[str, Any]] = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": name,
                "labels": {"kubernetes.io/hostname": name, "preferred": str(name == "preferred")},
            },
            "status": {"capacity": room, "allocatable": room},
        }
        for name in ("preferred", "empty")
    ]
    term = {"matchExpressions": [{"key": "preferred", "operator": "In", "values": ["True"]}]}
    preferred = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": term}]}
    for name, cpu, spec in (
        ("old", "3", {"nodeName": "preferred"}),
        ("new", "1", {"affinity": {"nodeAffinity": preferred}}),
    ):
        resources = {"requests": {"cpu": cpu, "memory": f"{cpu}Gi"}}
        container = {"name": "c", "image": "example.com/c", "resources": resources}
        metadata = {"name": name, "namespace": "default"}
        objects.append(
            {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container], **spec}}
        )
    operations = [{"step": 1, "createOperation": {"object": each}} for each in objects]
    document = yaml.safe_load(scenario())
    document["spec"]["operations"] = [*operations, {"step": 2, "doneOperation": {}}]
    return yaml.safe_dump(document)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["least", "most", "--measure", "speed"], "'speed' is not known; known are "),
        (["least", "most", "--fail-if", "speed < 1"], "'speed' is not known; known are "),
        (["least", "most", "--fail-if", "nodes_used is large"], "is not a threshold; expected a change"),
        (["least", "missing"], "missing: cannot be read: No such file"),
        (["least", "broken.json"], "broken.json: is not JSON"),
        (["least", "other"], "other: spec: is another scenario than that of least"),
        (["least", "broken.yaml"], "broken.yaml: "),
        (["simulation.yaml"], "kind: expected SchedulerSimulation, got 'Scenario'; a Scenario goes with "),
        (["--scenario", "fill.yaml", "--kubernetes-version", "1.35"], "give two or more of --scheduler-config, --kub"),
    ],
)  # fmt: skip
def test_bad_input_is_exit_code_2_and_one_clear_line(finished: Path, arguments: list[str], why: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [*PROGRAM, "compare", *arguments], cwd=finished, env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2
    assert why in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not done.stdout
    assert not (finished / "compare.html").exists()


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of two scenarios, and files that are none."""
    folder = tmp_path_factory.mktemp("finished")
    (folder / "fill.yaml").write_text(scenario(pods=2))
    (folder / "other.yaml").write_text(scenario("other", 3))
    for name, played in (("least", "fill.yaml"), ("most", "fill.yaml"), ("other", "other.yaml")):
        run = ["run", str(folder / played), "--out", str(folder / name), "--quiet", "--no-report"]
        assert CliRunner().invoke(build(), run).exit_code == 0
    (folder / "broken.json").write_text("{")
    (folder / "broken.yaml").write_text("{")
    (folder / "simulation.yaml").write_text(scenario())
    return folder
