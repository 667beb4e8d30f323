"""Sizes and settings with which a benchmark cannot run are refused by name."""

import pytest
from typer.testing import CliRunner

from seatrial.cli.main import build
from seatrial.model.errors import ConfigError


@pytest.mark.parametrize(
    "arguments",
    [
        ["ratios", "--against-commit", "HEAD", "--line", "Job", "--scale", "nan"],
        ["ratios", "--against-commit", "HEAD", "--line", "Job", "--scale", "inf"],
        ["scheduler", "--scale", "nan"],
        ["volcano", "--scale", "inf"],
        ["scenario", "--nodes", "0"],
        ["scenario", "--pods", "0"],
        ["scenario", "--steps", "9"],
        ["scenario", "--record", "everything"],
        ["api", "--creates", "0"],
        ["api", "--pods", "-1"],
    ],
    ids=" ".join,
)
def test_a_size_is_refused_by_the_name_of_its_option(arguments: list[str]) -> None:
    done = CliRunner().invoke(build(), ["bench", *arguments])
    assert done.exit_code == 2
    assert f"Invalid value for '{arguments[-2]}'" in done.output


@pytest.mark.parametrize("command", ["api", "outside", "ratios", "scenario", "scheduler", "volcano"])
def test_help_names_the_exit_code_of_a_figure_that_is_missed(command: str) -> None:
    help = CliRunner().invoke(build(), ["bench", command, "--help"]).output
    assert "1 one is not" in " ".join(help.split())


def test_a_wrong_environment_is_named_by_a_benchmark_that_runs_in_another_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SEATRIAL_SHORTCUTS", "magic")
    arguments = ["bench", "scheduler", "--workload", "SchedulingBasic", "--scale", "0.001"]
    with pytest.raises(ConfigError, match="SEATRIAL_SHORTCUTS"):
        CliRunner().invoke(build("bench"), arguments, catch_exceptions=False)
