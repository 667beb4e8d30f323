"""`seatrial config`: exit codes, and what is printed where."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from seatrial.cli.main import build
from seatrial.model.errors import ConfigError
from seatrial.model.yaml_reader import load
from tests.proofs import proves

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
PLUGIN = """\
from seatrial.plugins import Plugin
class Mine(Plugin):
    def score_one(self, pod, node):
        return 1
"""
RUNNER = CliRunner()


def write(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


@proves("MP-015")
def test_default_prints_what_write_config_to_writes() -> None:
    done = RUNNER.invoke(build(), ["config", "default"])
    printed = load(done.stdout)
    assert (done.exit_code, printed["profiles"][0]["plugins"]["multiPoint"]["enabled"][0]["name"]) == (
        0,
        "SchedulingGates",
    )


@proves("MP-040")
def test_expand_spells_every_point_out_in_yaml_and_json(tmp_path: Path) -> None:
    file = write(tmp_path / "c.yaml", HEAD)
    done = RUNNER.invoke(build(), ["config", "expand", file])
    as_json = RUNNER.invoke(build(), ["config", "expand", file, "-o", "json"])
    assert load(done.stdout) == json.loads(as_json.stdout)
    again = RUNNER.invoke(build(), ["config", "expand", write(tmp_path / "d.yaml", done.stdout)])
    assert again.stdout == done.stdout


def test_expand_knows_plugins_of_a_module(tmp_path: Path) -> None:
    plugin = write(tmp_path / "mine.py", PLUGIN)
    file = write(
        tmp_path / "c.yaml", HEAD + "profiles: [{plugins: {multiPoint: {enabled: [{name: Mine, weight: 3}]}}}]\n"
    )
    done = RUNNER.invoke(build(), ["config", "expand", file, "--plugins", plugin])
    assert {"name": "Mine", "weight": 3} in load(done.stdout)["profiles"][0]["plugins"]["score"]["enabled"]


@proves("MP-044")
def test_validate_names_every_error_with_exit_code_1(tmp_path: Path) -> None:
    file = write(tmp_path / "c.yaml", HEAD + "parallelism: -1\npodInitialBackoffSeconds: 0\n")
    done = RUNNER.invoke(build(), ["config", "validate", file])
    assert done.exit_code == 1
    assert f"{file}: validate: parallelism: Invalid value: -1" in done.stderr
    assert f"{file}: validate: podInitialBackoffSeconds: Invalid value: 0" in done.stderr


def test_validate_accepts_a_good_file(tmp_path: Path) -> None:
    assert RUNNER.invoke(build(), ["config", "validate", write(tmp_path / "c.yaml", HEAD)]).exit_code == 0


@proves("MP-038")
def test_old_versions_are_read_with_a_warning(tmp_path: Path) -> None:
    file = write(tmp_path / "c.yaml", HEAD.replace("/v1\n", "/v1beta3\n"))
    done = RUNNER.invoke(build(), ["config", "validate", file])
    assert (done.exit_code, "warning: kubescheduler.config.k8s.io/v1beta3 is deprecated" in done.stderr) == (0, True)


@pytest.mark.parametrize("command", ["validate", "expand"])
def test_a_missing_file_is_wrong_usage(command: str, tmp_path: Path) -> None:
    done = RUNNER.invoke(build(), ["config", command, str(tmp_path / "none.yaml")])
    assert isinstance(done.exception, ConfigError)
    assert "cannot be read" in str(done.exception)


def test_expand_refuses_a_bad_file(tmp_path: Path) -> None:
    file = write(tmp_path / "c.yaml", HEAD + "nonsense: 1\n")
    done = RUNNER.invoke(build(), ["config", "expand", file])
    assert isinstance(done.exception, ConfigError)
    assert 'unknown field "nonsense"' in str(done.exception)


def test_a_gate_that_is_off_by_default_is_refused_by_name(tmp_path: Path) -> None:
    file = write(tmp_path / "c.yaml", HEAD)
    done = RUNNER.invoke(build(), ["config", "validate", file, "--feature-gates", "GangScheduling=true"])
    assert isinstance(done.exception, ConfigError)
    assert "GangScheduling" in str(done.exception)
