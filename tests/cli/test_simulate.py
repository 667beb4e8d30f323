"""`seatrial simulate`: SchedulerSimulations on this machine, what they print and how they end."""

import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from seatrial.cli.main import build
from seatrial.model.errors import ConfigError, SeatrialError
from tests.operator.objects import scenario, simulation, write_scenario
from tests.proofs import proves

EXAMPLE = Path(__file__).parents[2] / "examples" / "spread-or-binpack"
OUTSIDE = EXAMPLE.parent / "outside-scheduler"
BAD = {
    "kind": ("kind", "Pod"),
    "unknown field": ("scenario", {}),
    "empty path": ("scenarioTemplateFilePath", ""),
    "wrong type": ("simulatorSpec", []),
    "a volume of a cluster": ("volume", {"name": "v", "persistentVolumeClaim": {"claimName": "c"}}),
}


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def simulate(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Done]:
    """Run the command in a directory, in this process."""

    def run(directory: Path, *arguments: str) -> Done:
        monkeypatch.chdir(directory)
        result = CliRunner().invoke(build(), ["simulate", *arguments])
        if isinstance(result.exception, SeatrialError):
            return Done(2, result.stdout, f"seatrial: {result.exception}")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Done(result.exit_code, result.stdout, result.stderr)

    return run


def written(directory: Path, document: dict[str, Any], name: str = "simulation.yaml") -> str:
    (directory / name).write_text(yaml.safe_dump(document))
    return name


@proves("S-014", "S-021")
def test_a_simulation_completes(simulate: Callable[..., Done], tmp_path: Path) -> None:
    """The volume's directory, relative to the object's file, stands for /mnt."""
    write_scenario(tmp_path / "files")
    written(tmp_path, simulation("one", Path("files")))
    done = simulate(Path("/"), str(tmp_path / "simulation.yaml"), "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    printed = yaml.safe_load(done.stdout)
    assert printed["status"]["phase"] == "Completed"
    assert printed["status"]["completionTime"].endswith("Z")
    assert yaml.safe_load((tmp_path / "out" / "schedulersimulation.yaml").read_text()) == printed
    result = json.loads((tmp_path / "files" / "result.json").read_bytes())
    assert result["status"]["phase"] == "Succeeded"
    assert result == json.loads((tmp_path / "out" / "result.json").read_bytes())


@proves("S-002")
def test_two_simulations_are_compared(simulate: Callable[..., Done], tmp_path: Path) -> None:
    """One scenario, two schedulers, and which uses fewer nodes."""
    shutil.copytree(EXAMPLE, tmp_path / "example")
    done = simulate(tmp_path, "example/simulation.yaml", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert [each["metadata"]["name"] for each in yaml.safe_load_all(done.stdout)] == ["spread", "binpack"]
    assert "| nodes_used | 10 | 4 | -6 (-60.0%) better |" in done.stderr
    assert "spread" in (tmp_path / "out" / "compare.html").read_text()
    assert {path.name for path in (tmp_path / "example" / "results").iterdir()} == {"spread.json", "binpack.json"}


@proves("S-036")
def test_a_threshold_decides_the_exit_code(simulate: Callable[..., Done], tmp_path: Path) -> None:
    """A score from the results, and no for an answer in CI."""
    shutil.copytree(EXAMPLE, tmp_path / "example")
    done = simulate(tmp_path, "example/simulation.yaml", "--fail-if", "balance_cpu > 10")
    assert done.returncode == 1
    assert "over the line: " in done.stderr
    assert simulate(tmp_path, "example/simulation.yaml", "--fail-if", "nodes_used > 0").returncode == 0


@proves("S-013", "S-021", "S-022", "S-034")
@pytest.mark.parametrize("cause", ["absent", "failed", "paused", "configuration"])
def test_a_failure_is_a_status_and_exit_code_1(simulate: Callable[..., Done], tmp_path: Path, cause: str) -> None:
    document = simulation("one", Path())
    if cause == "failed":
        made = scenario()
        made["spec"]["operations"][1] = made["spec"]["operations"][0]
        (tmp_path / "scenario.json").write_text(json.dumps(made))
    elif cause != "absent":
        write_scenario(tmp_path, done=cause != "paused")
    if cause == "configuration":
        document["spec"]["simulatorSpec"] = {"kubeSchedulerConfigurationPath": "/mnt/absent.yaml"}
    done = simulate(tmp_path, written(tmp_path, document))
    assert done.returncode == 1, done.stderr
    status = yaml.safe_load(done.stdout)["status"]
    assert status["phase"] == "Failed"
    assert "completionTime" not in status
    expected = {
        "absent": "scenario.json: No such file or directory",
        "failed": 'scenario small Failed: operation op-2: nodes "node-1" already exists',
        "paused": "scenario small ended Paused, without Done",
        "configuration": "absent.yaml",
    }[cause]
    assert expected in status["message"]
    assert status["message"] in done.stderr


@proves("S-034")
def test_the_deadline_ends_a_simulation_here_too(simulate: Callable[..., Done], tmp_path: Path) -> None:
    """Many pods with a second for all of them."""
    made = scenario("long", pods=40_000)
    (tmp_path / "scenario.json").write_text(json.dumps(made, separators=(",", ":")))
    done = simulate(tmp_path, written(tmp_path, simulation("one", Path(), activeDeadlineSeconds=1)))
    assert done.returncode == 1
    assert yaml.safe_load(done.stdout)["status"]["message"] == "scenario long Failed: not finished within 1 s"


@pytest.mark.parametrize("cause", BAD)
def test_a_bad_object_is_exit_code_2_and_nothing_is_run(
    simulate: Callable[..., Done], tmp_path: Path, cause: str
) -> None:
    write_scenario(tmp_path)
    document = simulation("one", Path())
    field, value = BAD[cause]
    (document if field == "kind" else document["spec"])[field] = value
    done = simulate(tmp_path, written(tmp_path, document))
    assert done.returncode == 2
    assert "simulation.yaml: " in done.stderr
    assert field in done.stderr
    assert not (tmp_path / "result.json").exists()
    assert not (tmp_path / "seatrial-out").exists()


@pytest.mark.parametrize("text", ["", "[", "3", "apiVersion: v1"])
def test_what_is_no_object_is_named(simulate: Callable[..., Done], tmp_path: Path, text: str) -> None:
    (tmp_path / "simulation.yaml").write_text(text)
    done = simulate(tmp_path, "simulation.yaml")
    assert done.returncode == 2
    assert done.stderr.startswith("seatrial: simulation.yaml: ")
    assert simulate(tmp_path, "absent.yaml").returncode == 2


def test_two_of_one_name_are_refused(simulate: Callable[..., Done], tmp_path: Path) -> None:
    first = written(tmp_path, simulation("one", Path()), "first.yaml")
    second = written(tmp_path, simulation("one", Path()), "second.yaml")
    done = simulate(tmp_path, first, second)
    assert done.returncode == 2
    assert "one is the name of two SchedulerSimulations" in done.stderr


def test_different_scenarios_are_run_but_not_compared(simulate: Callable[..., Done], tmp_path: Path) -> None:
    files = []
    for name in ("one", "two"):
        write_scenario(tmp_path / name, name)
        files.append(written(tmp_path, simulation(name, Path(name)), f"{name}.yaml"))
        (tmp_path / name / "scenario.json").write_text(json.dumps(scenario(name, pods=len(files))))
    done = simulate(tmp_path, *files)
    assert done.returncode == 0, done.stderr
    assert "not compared: " in done.stderr
    assert simulate(tmp_path, *files, "--fail-if", "nodes_used > 0").returncode == 2


@pytest.mark.parametrize(("bound", "code"), [(1, 1), (10, 0)])
def test_one_simulation_has_a_threshold_on_its_value(tmp_path: Path, bound: int, code: int) -> None:
    folder = tmp_path / "it"
    shutil.copytree(EXAMPLE, folder)
    first = (folder / "simulation.yaml").read_text().split("---")[0]
    (folder / "one.yaml").write_text(first)
    arguments = ["simulate", str(folder / "one.yaml"), "--out", str(tmp_path / "out"), "--fail-if"]
    ended = CliRunner().invoke(build(), [*arguments, f"value(nodes_used) > {bound}"])
    assert ended.exit_code == code, ended.output
    with pytest.raises(ConfigError, match="is a change: expected two"):
        CliRunner().invoke(build(), [*arguments, "nodes_used > 1"], catch_exceptions=False)


def test_two_simulations_that_write_one_file_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "it"
    shutil.copytree(EXAMPLE, folder)
    text = (folder / "simulation.yaml").read_text().replace("results/binpack.json", "results/spread.json")
    (folder / "both.yaml").write_text(text)
    with pytest.raises(ConfigError, match=r"spread and binpack both write .*spread\.json"):
        CliRunner().invoke(build(), ["simulate", str(folder / "both.yaml")], catch_exceptions=False)


PLUGIN = """
from seatrial.plugins import Plugin


class NeverTheFirst(Plugin):
    def filter_one(self, pod, node):
        return node.name != "node-1" or "not the first"
"""


def nodes_of_pods(result: Path) -> set[str]:
    changes = json.loads(result.read_bytes())["status"]["scenarioResult"]["timeline"]
    return {node for node in ("node-1", "node-2") if f'"nodeName": "{node}"' in json.dumps(changes)}


def test_plugins_of_the_volume_are_loaded(simulate: Callable[..., Done], tmp_path: Path) -> None:
    write_scenario(tmp_path / "files")
    (tmp_path / "files" / "mine.py").write_text(PLUGIN)
    enabled = {"multiPoint": {"enabled": [{"name": "NeverTheFirst"}]}}
    configuration = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
                     "profiles": [{"plugins": enabled}]}  # fmt: skip
    written(tmp_path / "files", configuration, "scheduler.yaml")
    chosen = {"kubeSchedulerConfigurationPath": "/mnt/scheduler.yaml", "schedulerPluginPaths": ["/mnt/mine.py"]}
    written(tmp_path, simulation("one", Path("files"), simulator=chosen))
    done = simulate(Path("/"), str(tmp_path / "simulation.yaml"), "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert nodes_of_pods(tmp_path / "out" / "result.json") == {"node-2"}


def test_a_scheduler_of_the_volume_takes_the_place_of_the_embedded_one(
    simulate: Callable[..., Done], tmp_path: Path
) -> None:
    write_scenario(tmp_path / "files")
    shutil.copy(OUTSIDE / "scheduler.py", tmp_path / "files")
    chosen = {"outsideScheduler": [sys.executable, "/mnt/scheduler.py"]}
    written(tmp_path, simulation("one", Path("files"), simulator=chosen))
    done = simulate(Path("/"), str(tmp_path / "simulation.yaml"), "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "outside" / "scheduler.log").exists()
    assert json.loads((tmp_path / "files" / "result.json").read_bytes())["status"]["phase"] == "Succeeded"
