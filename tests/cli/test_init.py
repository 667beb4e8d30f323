"""`seatrial` alone and `seatrial init`: what a stranger types first."""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from seatrial.cli.init import STARTER, examples_folder
from seatrial.cli.main import COMMANDS, build
from seatrial.model.errors import ConfigError


def call(*arguments: str) -> str:
    result = CliRunner().invoke(build(), list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_program_alone_shows_first_steps() -> None:
    said = call()
    assert set(re.findall(r"^  seatrial ([a-z-]+)", said, re.MULTILINE)) <= set(COMMANDS)
    assert "seatrial init" in said
    assert max(map(len, said.splitlines())) <= 80


def test_what_init_says_next_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    said = call("init", "sub")
    assert sorted(path.name for path in (tmp_path / "sub").iterdir()) == sorted(STARTER)
    steps = [shlex.split(line)[1:] for line in re.findall(r"^  (seatrial .*)$", said, re.MULTILINE)]
    assert [step[0] for step in steps] == ["run", "explain", "compare", "serve"]
    for step in steps[:-1]:
        call(*step)


def test_nothing_is_overwritten_unless_forced(tmp_path: Path) -> None:
    (tmp_path / "scheduler.yaml").write_text("mine")
    with pytest.raises(ConfigError, match=r"scheduler\.yaml exist"):
        call("init", str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["scheduler.yaml"]
    call("init", str(tmp_path), "--force")
    assert "KubeSchedulerConfiguration" in (tmp_path / "scheduler.yaml").read_text()


def test_an_example_is_copied_whole(tmp_path: Path) -> None:
    assert "custom-plugin" in call("init", "--list").split()
    call("init", str(tmp_path), "--example", "custom-plugin")
    copied = {path.name for path in (tmp_path / "custom-plugin").iterdir()}
    assert copied == {path.name for path in (examples_folder() / "custom-plugin").iterdir() if path.is_file()}
    with pytest.raises(ConfigError, match="no example 'nothing'"):
        call("init", str(tmp_path), "--example", "nothing")
