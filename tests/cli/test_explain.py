"""`seatrial run` names pending pods by reason, and `seatrial explain` lists and explains them."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from seatrial.cli.main import build
from seatrial.model.yaml_reader import dump
from tests.scenario.playing import create, done, operations, scenario
from tests.scenario.running import node, pod


def call(*arguments: str) -> str:
    ended = CliRunner().invoke(build(), list(arguments), env={"COLUMNS": "200"})
    assert ended.exit_code == 0, ended.output
    return ended.stdout


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("explain")
    large = [create(1, pod(f"big-{i}", cpu="64")) for i in range(6)]
    cordoned = node("m")
    cordoned["spec"] = {"unschedulable": True}
    spec = operations(
        create(1, node("n")), create(1, node("o")), create(1, cordoned), create(1, pod("p")), *large, done(1)
    )
    (folder / "scenario.yaml").write_text(dump(scenario(spec)))
    (folder / "printed").write_text(call("run", str(folder / "scenario.yaml"), "--out", str(folder / "run")))
    return folder / "run"


def test_a_run_names_its_pending_pods_by_reason(out: Path) -> None:
    printed = " ".join((out.parent / "printed").read_text().split())
    names = "default/big-0, default/big-1, default/big-2 and 3 more"
    assert f"pending 6: Insufficient cpu, node(s) were unschedulable ({names})" in printed


def test_explain_without_a_pod_lists_the_pending_ones(out: Path) -> None:
    printed = call("explain", str(out))
    assert printed.splitlines()[0] == "6 pending: Insufficient cpu, node(s) were unschedulable"
    assert "default/big-5" in printed
    (group,) = json.loads(call("explain", str(out), "--json"))
    assert len(group["pods"]) == 6


def test_nodes_are_grouped_by_verdict(out: Path) -> None:
    """The one node that says something else is always shown."""
    printed = call("explain", str(out), "big-0")
    assert "default/big-0 is pending after 2 attempts: 0/3 nodes are available" in printed
    rows = [line.split("│")[1:-1] for line in printed.splitlines() if line.startswith("│")]
    assert [[cell.strip() for cell in row] for row in rows] == [
        ["2", "NodeResourcesFit", "Insufficient cpu", "n"],
        ["1", "NodeUnschedulable", "node(s) were unschedulable", "m"],
    ]


def test_a_glob_explains_each_pod_in_one_sentence(out: Path) -> None:
    lines = call("explain", str(out), "big-*").splitlines()
    assert len(lines) == 6
    assert all("is pending" in line for line in lines)


def test_a_report_is_written_from_a_result_alone(out: Path, tmp_path: Path) -> None:
    alone = tmp_path / "served.json"
    alone.write_bytes((out / "result.json").read_bytes())
    page = tmp_path / "page.html"
    assert str(page) in call("report", str(alone), "--out", str(page))
    assert page.stat().st_size > 100_000


@pytest.mark.parametrize(("nodes", "said"), [("ab", "with b"), ("abc", "with 2 other nodes")])
def test_a_tie_says_how_many_nodes_share_the_score(nodes: str, said: str, tmp_path: Path) -> None:
    spec = operations(*(create(1, node(name)) for name in nodes), create(2, pod("p")), done(2))
    (tmp_path / "scenario.yaml").write_text(dump(scenario(spec)))
    call("run", str(tmp_path / "scenario.yaml"), "--out", str(tmp_path / "run"), "--quiet")
    assert f" {said}; the tie was settled." in call("explain", str(tmp_path / "run"), "p")
