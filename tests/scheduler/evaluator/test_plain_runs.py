"""Whole commands without any shortcut: the recorded answers of kube-scheduler, and every example byte for byte."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from seatrial.scheduler.evaluator.shortcuts import ALL, NONE, VARIABLE, Shortcuts, chosen_shortcuts, only
from tests.examples.playing import SEATRIAL, Example, examples
from tests.examples.run_all import EXAMPLES
from tests.scheduler.evaluator.kernels import needs_kernel
from tests.verify.test_golden import GOLDEN

FILES = ("result.json", "timeline.parquet")


def run(shortcuts: str, *arguments: str) -> str:
    """Standard output of a command with some shortcuts."""
    templates = "off" if shortcuts == "none" else ""
    environment = {**os.environ, "SEATRIAL_SHORTCUTS": shortcuts, "SEATRIAL_TEMPLATES": templates}
    done = subprocess.run(
        [str(SEATRIAL), *arguments], env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def written(example: Example, out: Path, shortcuts: str) -> Iterator[bytes]:
    run(shortcuts, "run", str(example.scenario), *example.flags, "--out", str(out), "--quiet", "--no-report")
    for name in FILES:
        yield (out / name).read_bytes()


@pytest.mark.long
def test_recorded_answers_are_equal_without_shortcuts() -> None:
    last = run("none", "verify", "golden", str(GOLDEN)).splitlines()[-1]
    equal, _, total, *_ = last.split()
    assert equal == total
    assert int(total) > 0


@pytest.mark.long
@pytest.mark.parametrize("example", [e for e in examples() if not e.driven], ids=lambda example: example.name)
def test_an_example_is_byte_equal_without_shortcuts(example: Example, tmp_path: Path) -> None:
    plain = list(written(example, tmp_path / "plain", "none"))
    assert list(written(example, tmp_path / "shortcuts", "all")) == plain


@needs_kernel
@pytest.mark.long
@pytest.mark.parametrize("example", [e for e in examples() if not e.driven], ids=lambda example: example.name)
def test_an_example_is_byte_equal_with_the_kernel(
    example: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEATRIAL_KERNEL", "off")
    without = list(written(example, tmp_path / "without", "all"))
    monkeypatch.setenv("SEATRIAL_KERNEL", "on")
    assert list(written(example, tmp_path / "with", "all")) == without


@pytest.mark.parametrize(
    ("text", "chosen"), [("", ALL), (" all ", ALL), ("none", NONE), ("hints, columns", only("columns", "hints"))]
)
def test_the_environment_selects_shortcuts_and_nothing_in_it_is_the_default(
    text: str, chosen: Shortcuts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, text)
    assert chosen_shortcuts() == chosen


@pytest.mark.parametrize(
    ("variable", "value", "unknown"),
    [("SEATRIAL_SHORTCUTS", "columns,magic", "magic"), ("SEATRIAL_TEMPLATES", "OFF", "OFF")],
)
def test_an_unknown_value_is_refused_by_name(tmp_path: Path, variable: str, value: str, unknown: str) -> None:
    environment = {**os.environ, variable: value}
    command = [str(SEATRIAL), "run", str(EXAMPLES / "first-steps" / "scenario.yaml"), "--out", str(tmp_path / "out")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert variable in done.stderr
    assert repr(unknown) in done.stderr
    assert "Traceback" not in done.stderr
