"""`seatrial bench ratios`: both versions are run in turns, and the least of each is compared."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from seatrial.bench import older_tree, ratios
from seatrial.bench.older_tree import HERE, Tree, tree_of_commit, tree_of_wheel
from seatrial.bench.ratios import LINES, SAME, Line, measured, runnable
from seatrial.cli.main import build
from seatrial.model.errors import ConfigError, SeatrialError

OLDER, THIS = Tree("older", Path("a")), Tree("this", Path("b"))


def test_versions_are_run_in_turns_and_the_least_of_each_counts(tmp_path: Path) -> None:
    costs = {"older": iter((8.0, 6.0)), "this": iter((2.0, 3.0))}
    ran: list[str] = []

    def cost(tree: Tree, folder: Path, scale: float) -> float:
        assert not any(folder.iterdir())
        ran.append(tree.name)
        return next(costs[tree.name])

    (figure,) = measured([Line("a line", cost, must=2.5, goal=4)], OLDER, THIS, tmp_path, 1.0, 2)
    assert ran == ["older", "this", "older", "this"]
    assert figure.value == 3.0
    assert figure.verdict == "ok, goal not reached"


def test_a_line_about_growth_is_about_this_version(tmp_path: Path) -> None:
    def cost(tree: Tree, folder: Path, scale: float) -> float:
        return 6.0 if tree is OLDER else 4.0

    (figure,) = measured([Line("growth", cost, must=4.5, absolute="times")], OLDER, THIS, tmp_path, 1.0, 1)
    assert (figure.value, figure.verdict) == (4.0, "ok")


def test_a_version_out_of_a_wheel_runs(tmp_path: Path) -> None:
    root = tmp_path / "packed"
    shutil.copytree(HERE / "seatrial", root / "seatrial", ignore=shutil.ignore_patterns("__pycache__", "static"))
    archive = shutil.make_archive(str(tmp_path / "wheel"), "zip", root)
    tree = tree_of_wheel(Path(archive), tmp_path)
    seconds, printed = tree.run("--version")
    assert printed.startswith("seatrial ")
    assert seconds > 0


def test_what_is_no_commit_and_no_wheel_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--against-commit"):
        tree_of_commit("no-such-commit", tmp_path)
    (tmp_path / "x.whl").write_text("no archive")
    with pytest.raises(ConfigError, match="expected a wheel"):
        tree_of_wheel(tmp_path / "x.whl", tmp_path)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "--against-commit: expected a commit"),
        (["--line", "no such line"], "--line: no such line: .* default flags; whole run, summary; demo;"),
        (["--line", "demo", "--line", "no such line"], "--line: no such line: "),
        (["--line", "with kernel"], "--line: expected a line that runs without a kernel"),
    ],
)
def test_wrong_options_are_refused(arguments: list[str], said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEATRIAL_KERNEL", "off")
    against = ["--against-commit", "HEAD"] if arguments else []
    with pytest.raises(ConfigError, match=said):
        CliRunner().invoke(build(), ["bench", "ratios", *against, *arguments], catch_exceptions=False)


def test_an_option_is_no_commit(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--against-commit") as refused:
        tree_of_commit(f"--output={tmp_path / 'written'}", tmp_path)
    assert "usage" not in str(refused.value)
    assert not list(tmp_path.iterdir())


def test_a_version_may_have_any_name(tmp_path: Path) -> None:
    def cost(tree: Tree, folder: Path, scale: float) -> float:
        return 2.0 if tree.packages == OLDER.packages else 1.0

    for name in ("origin/main", "this"):
        (figure,) = measured([Line("a line", cost)], Tree(name, OLDER.packages), THIS, tmp_path, 1.0, 1)
        assert figure.value == 2.0


def test_every_figure_of_whole_runs_has_a_line() -> None:
    names = " ".join(line.name for line in LINES)
    for text in ("default flags", "summary", "demo", "TopologySpreading", "one Job", "result.json", "200,000 pods"):
        assert text in names


def test_only_lines_with_kernel_run_with_it(tmp_path: Path) -> None:
    ran: list[tuple[str, str]] = []

    def cost(tree: Tree, folder: Path, scale: float) -> float:
        ran.append((tree.name, tree.kernel))
        return 1.0

    lines = [Line("pure", cost), Line("fast", cost, kernel=True)]
    assert len(list(measured(lines, OLDER, THIS, tmp_path, 1.0, 1))) == 2
    assert ran == [("older", "off"), ("this", "off"), ("older", "auto"), ("this", "on")]


def test_a_version_is_told_whether_to_use_its_kernel() -> None:
    _, printed = Tree("this", HERE, kernel="off").run("--version")
    assert "without kernel" in printed


def test_a_command_that_takes_too_long_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(older_tree, "LONGEST", 0.001)
    with pytest.raises(SeatrialError, match=r"this: seatrial --version: not done after .* try a smaller --scale"):
        Tree("this", HERE).run("--version")


def test_lines_with_kernel_are_left_out_loudly_without_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SEATRIAL_KERNEL", "off")
    left = runnable(list(LINES))
    assert left == [line for line in LINES if not line.kernel and not line.against_upstream]
    said = capsys.readouterr().err
    for line in LINES:
        assert (f"SKIPPED: {line.name}: " in said) == (line not in left)


def test_kube_scheduler_takes_the_place_of_the_older_version_in_its_lines(tmp_path: Path) -> None:
    program = tmp_path / "oracle"
    program.write_text('#!/bin/sh\necho "pods_per_cpu_s=0.5"\n')
    program.chmod(0o755)
    assert ratios.anti(replace(OLDER, oracle=program), tmp_path, 0.01) == 2.0
    (line,) = (one for one in runnable(list(LINES), program) if one.against_upstream)
    assert line.cost is ratios.anti


def test_the_figures_of_the_kernel_have_lines() -> None:
    musts = {line.name.removesuffix(" with kernel").rstrip(","): line.must for line in LINES if line.kernel}
    assert musts == {
        "whole run, summary": 1.6,
        "SchedulingBasic": SAME,
        "SchedulingBasic50000": SAME,
        "TopologySpreading": SAME,
        "SchedulingPodAffinity": SAME,
        "SchedulingPodAntiAffinity": SAME,
    }
