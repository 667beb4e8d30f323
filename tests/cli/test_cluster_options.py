"""--snapshot, --unbind, --prices, --volcano and --kubernetes-version: the same wherever a cluster is begun with."""

import inspect
import json
from pathlib import Path
from typing import Any, Unpack

import msgspec
import polars as pl
import pytest
import yaml
from typer.main import get_command
from typer.testing import CliRunner, Result

import seatrial
from seatrial.cli.main import build
from seatrial.scenario.spec import scenario_alone
from seatrial.scheduler.versions import DEFAULT
from seatrial.sweeps.spec import SweepSpec
from tests.cli.test_snapshot_options import MOST, cluster
from tests.operator.objects import simulation
from tests.store.snapshots.objects import Document

FIVE = ("snapshot", "unbind", "prices", "volcano", "kubernetes_version")
COMMANDS = {
    "run": ("run", "scenario.json", "--no-report", "--out", "out"),
    "compare": ("compare", "--scenario", "scenario.json", "--scheduler-config", "default", "-f", "json"),
    "what-if": ("what-if", "add", "--node", "node.json", "--out", "out"),
    "capacity": ("capacity", "pods", "pod.yaml", "-q"),
    "simulate": ("simulate", "simulation.yaml", "--out", "out"),
}
POD = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i}]}}"
PRICES = "prices: [{instanceType: m5.large, pricePerHour: 0.5}]"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cluster of three nodes of v1.35, a pod for Volcano, and what the commands read besides."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cluster.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects()}))
    (tmp_path / "scenario.json").write_text(json.dumps(for_volcano()))
    (tmp_path / "simulation.yaml").write_text(yaml.safe_dump(simulation("one", tmp_path)))
    (tmp_path / "node.json").write_text(json.dumps(objects()[0]))
    (tmp_path / "pod.yaml").write_text(POD)
    (tmp_path / "prices.yaml").write_text(PRICES)
    (tmp_path / "most.yaml").write_text(MOST)
    return tmp_path


def objects() -> list[Document]:
    found = cluster()
    for each in found:
        if each["kind"] == "Node":
            each["metadata"].setdefault("labels", {})["node.kubernetes.io/instance-type"] = "m5.large"
            each["status"]["nodeInfo"] = {"kubeletVersion": "v1.35.2"}
    return found


def for_volcano() -> Document:
    """A Scenario with a pod of Volcano, which does not name Volcano among what is simulated."""
    spec = {"schedulerName": "volcano", "containers": [{"name": "main", "image": "example.com/member"}]}
    member = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "member", "namespace": "default"}, "spec": spec}
    document = scenario_alone("small")
    document["spec"]["operations"].insert(0, {"id": "member", "step": 1, "createOperation": {"object": member}})
    return document


def invoked(*words: str) -> Result:
    return CliRunner().invoke(build(), list(words), catch_exceptions=False)


@pytest.mark.parametrize(
    "words", ["run", "compare", "capacity pods", "capacity nodes", "what-if drain", "what-if scale", "simulate"]
)
def test_each_command_has_the_five_options(words: str) -> None:
    command: Any = get_command(build())
    for word in words.split():
        command = command.commands[word]
    assert set(FIVE) <= {parameter.name for parameter in command.params}


def test_a_sweep_file_and_the_python_functions_have_them() -> None:
    assert set(FIVE) <= {field.name for field in msgspec.structs.fields(SweepSpec)}
    assert set(FIVE) <= set(seatrial.RunOptions.__annotations__)
    taken = inspect.signature(seatrial.Simulation.__init__).parameters["options"].annotation
    assert taken == Unpack[seatrial.RunOptions]
    of_cluster = {*inspect.signature(seatrial.Cluster.from_snapshot).parameters,
                  *inspect.signature(seatrial.Cluster.__init__).parameters}  # fmt: skip
    assert set(FIVE) <= of_cluster


@pytest.mark.parametrize("command", COMMANDS)
def test_a_version_of_the_nodes_that_is_not_the_usual_one_is_said_in_one_line(command: str) -> None:
    said = invoked(*COMMANDS[command], "--snapshot", "cluster.json").stderr
    (line,) = [line for line in said.splitlines() if "1.35" in line]
    assert line.startswith("seatrial: the nodes of the snapshot run v1.35: kube-scheduler v1.35.")
    other = invoked(*COMMANDS[command], "--snapshot", "cluster.json", "--kubernetes-version", DEFAULT.minor).stderr
    assert "1.35" not in other


def bound(folder: Path) -> dict[str, str | None]:
    return {each.key: each.node or None for each in seatrial.Result.load(folder).run.pods}


@pytest.mark.parametrize("command", ["run", "simulate"])
def test_volcano_schedules_where_it_is_asked_for(command: str) -> None:
    begun = (*COMMANDS[command], "--snapshot", "cluster.json")
    assert invoked(*begun).exit_code == 0
    assert bound(Path("out"))["default/member"] is None
    assert invoked(*begun, "--volcano").exit_code == 0
    assert bound(Path("out"))["default/member"] is not None


def test_python_begins_with_a_cluster_as_the_command_does() -> None:
    words = ("--unbind", "workloads", "--prices", "prices.yaml", "--volcano", "--scheduler-config", "most.yaml")
    assert invoked(*COMMANDS["run"], "--snapshot", "cluster.json", *words).exit_code == 0
    result = seatrial.run("scenario.json", "most.yaml", snapshot="cluster.json", unbind="workloads",
                          prices="prices.yaml", volcano=True)  # fmt: skip
    assert {each.key: each.node or None for each in result.run.pods} == bound(Path("out"))
    assert result.run.nodes[0].labels["seatrial.dev/price-per-hour"] == "0.5"


def test_a_sweep_has_volcano_and_the_version_of_the_nodes(capsys: pytest.CaptureFixture[str]) -> None:
    text = "scenarios: [scenario.json]\nsnapshot: cluster.json\nprices: prices.yaml\n"
    Path("sweep.yaml").write_text(text)
    ended = invoked("sweep", "sweep.yaml", "--out", "alone", "--processes", "1")
    assert ended.exit_code == 0, ended.output
    assert "the nodes of the snapshot run v1.35" in ended.stderr
    Path("sweep.yaml").write_text(f"{text}volcano: true\n")
    assert invoked("sweep", "sweep.yaml", "--out", "both", "--processes", "1").exit_code == 0
    before, after = (pl.read_parquet(f"{name}/sweep.parquet")["pods_bound"].item() for name in ("alone", "both"))
    assert after == before + 1
