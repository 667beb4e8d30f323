"""`seatrial run` with a user's plugin or controller that is broken: one message, whole files, exit code 1 or 2."""

import json
import subprocess
import sys
from pathlib import Path

import orjson
import pytest
from typer.testing import CliRunner, Result

from seatrial.cli.main import build
from seatrial.model.errors import ConfigError
from seatrial.scenario.engine.controller_registry import REGISTRY
from tests.scenario.playing import create, done, operations, patch, scenario
from tests.scenario.running import node, pod

PLUGIN = """
from seatrial.plugins import Plugin

class Boom(Plugin):
    def {method}(self, pod, node):
        raise RuntimeError("boom")
"""
PROFILE = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{plugins: {multiPoint: {enabled: [{name: Boom}]}}}]
"""
CONTROLLER = """
from seatrial.scenario.engine.user_controllers import UserController

class Boom(UserController):
    name = "boom"
    watches = ("v1/Node",)

    def reconcile(self, cluster, object):
        raise RuntimeError("boom")
"""
SPEC = operations(create(1, node("node-1")), create(1, node("node-2")), create(2, pod("x")), done(3))


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(REGISTRY, "own", {})


def run(*arguments: str, spec: dict[str, object] = SPEC) -> Result:
    Path("scenario.json").write_bytes(orjson.dumps(scenario(spec)))
    return CliRunner().invoke(build(), ["run", "scenario.json", "--no-report", *arguments])


def failed(result: Result) -> str:
    """The message of a Scenario that ended Failed, as its file has it."""
    assert (result.exit_code, type(result.exception)) == (1, SystemExit), result.output
    assert "Traceback" not in result.output
    status = orjson.loads(Path("seatrial-out/play/result.json").read_bytes())["status"]
    assert Path("seatrial-out/play/timeline.parquet").exists()
    assert status["phase"] == "Failed"
    return str(status["message"])


@pytest.mark.parametrize("method", ["filter_one", "score_one"])
def test_a_plugin_that_raises_fails_the_attempts_and_the_command(method: str) -> None:
    """The scenario ends as it says; status, summary and explain have file and line."""
    Path("own.py").write_text(PLUGIN.format(method=method))
    Path("profile.yaml").write_text(PROFILE)
    result = run("--plugins", "own.py", "--scheduler-config", "profile.yaml")
    assert (result.exit_code, type(result.exception)) == (1, SystemExit), result.output
    assert "Traceback" not in result.output
    assert "RuntimeError: boom (own.py, line 6)" in result.output
    status = orjson.loads(Path("seatrial-out/play/result.json").read_bytes())["status"]
    assert status["phase"] == "Succeeded"
    assert "attempts failed with an error: " in status["message"]
    assert "RuntimeError: boom (own.py, line 6)" in status["message"]
    assert "1 pod rests after errors until something changes: default/x" in status["message"]
    explained = CliRunner().invoke(build(), ["explain", "seatrial-out/play", "x"])
    assert "RuntimeError: boom (own.py, line 6)" in " ".join(explained.output.split())


def test_a_score_out_of_range_is_in_the_summary() -> None:
    text = "from seatrial.plugins import Plugin\n\nclass Boom(Plugin):\n    def score_one(self, pod, node):\n"
    Path("own.py").write_text(f"{text}        return 250\n")
    Path("profile.yaml").write_text(PROFILE)
    result = run("--plugins", "own.py", "--scheduler-config", "profile.yaml")
    assert result.exit_code == 1
    assert 'plugin "Boom" returns an invalid score 250' in result.output


def test_a_plugin_that_is_enabled_nowhere_and_a_misspelt_method_are_warned_about() -> None:
    Path("own.py").write_text(
        PLUGIN.format(method="score_one") + "\n    def filter_on(self, pod, node):\n        ...\n"
    )
    result = run("--plugins", "own.py")
    assert result.exit_code == 0, result.output
    assert "plugin Boom: filter_on is no extension point; did you mean filter_one?" in result.output
    assert "plugin Boom is loaded, but no profile enables it" in result.output


def test_a_plugin_with_nothing_but_a_misspelt_method_is_refused_with_the_right_one() -> None:
    Path("own.py").write_text(PLUGIN.format(method="filter_on"))
    result = run("--plugins", "own.py")
    assert isinstance(result.exception, ConfigError)
    assert "did you mean filter_one by filter_on?" in str(result.exception)


def test_a_controller_that_raises_fails_the_scenario() -> None:
    Path("own.py").write_text(CONTROLLER)
    assert failed(run("--controllers", "own.py")) == "controller boom on Node node-1: RuntimeError: boom"


def test_a_patch_that_cannot_be_read_fails_the_scenario() -> None:
    broken = {**patch(2, node("node-1"), "{a: ["), "id": "broken"}
    said = failed(run(spec=operations(create(1, node("node-1")), broken, done(3))))
    assert said.startswith("operation broken: patchOperation.patch is neither JSON nor YAML")


@pytest.mark.parametrize("option", ["--plugins", "--controllers"])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def (:\n", "SyntaxError"),
        ("import nowhere_at_all\n", "ModuleNotFoundError"),
        ("1 // 0\n", "ZeroDivisionError"),
    ],
)
def test_a_module_that_cannot_be_loaded_is_refused(option: str, text: str, said: str) -> None:
    Path("own.py").write_text(text)
    result = run(option, "own.py")
    assert isinstance(result.exception, ConfigError)
    assert str(result.exception).startswith(f"own.py: cannot be loaded: {said}: ")


def test_validate_warns_about_a_plugin_that_no_profile_enables() -> None:
    Path("own.py").write_text(PLUGIN.format(method="score_one"))
    Path("profile.yaml").write_text(PROFILE.split("profiles:")[0])
    result = CliRunner().invoke(build(), ["config", "validate", "profile.yaml", "--plugins", "own.py"])
    assert result.exit_code == 0, result.output
    assert "warning: plugin Boom is loaded, but no profile enables it" in result.output


NOISY = """
from seatrial.plugins import Plugin

print("loaded")


class Noisy(Plugin):
    def score_one(self, pod, node):
        print("scored")
        return 1
"""
ENABLED = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{plugins: {multiPoint: {enabled: [{name: Noisy}]}}}]
"""


def test_what_a_plugin_prints_goes_to_standard_error(tmp_path: Path) -> None:
    (tmp_path / "noisy.py").write_text(NOISY)
    (tmp_path / "scheduler.yaml").write_text(ENABLED)
    example = Path(__file__).parents[2] / "examples" / "spread-or-binpack" / "scenario.yaml"
    arguments = ["run", str(example), "--plugins", "noisy.py", "--scheduler-config", "scheduler.yaml", "--json"]
    program = [sys.executable, "-c", "from seatrial.cli.main import main; main()"]
    done = subprocess.run([*program, *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["phase"] == "Succeeded"
    assert "loaded" in done.stderr and "scored" in done.stderr
