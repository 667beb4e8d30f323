"""`seatrial capacity`: answers, exit codes, and input that cannot be used."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from seatrial.cli.main import build
from seatrial.model.errors import SeatrialError
from tests.capacity.objects import node, pod, scenario

ROOT = Path(__file__).parents[2]
PODS = ("pods", ROOT / "examples/capacity/web.yaml", "--snapshot", ROOT / "examples/capacity/cluster.yaml")
NODES = ("nodes", ROOT / "examples/capacity/node.yaml", "--scenario", ROOT / "examples/node-saving/scenario.yaml")


def capacity(*arguments: object) -> Any:
    result = CliRunner().invoke(build(), ["capacity", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def write(folder: Path, name: str, document: object) -> Path:
    path = folder / name
    path.write_text(yaml.safe_dump(document))
    return path


@pytest.mark.parametrize("question", [PODS, NODES], ids=["pods", "nodes"])
def test_the_page_shows_the_answers_of_its_commands(question: tuple[object, ...]) -> None:
    answer = capacity(*question, "--quiet")
    assert answer.exit_code == 0
    assert answer.stdout in (ROOT / "docs/capacity.md").read_text()


def test_pods_as_json() -> None:
    answer = json.loads(capacity(*PODS, "-q", "-o", "json").stdout)
    assert (answer["fit"], answer["byNode"]) == (24, {"node-a": 8, "node-b": 16})
    assert answer["refusals"][0] == {"plugin": "NodeResourcesFit", "reason": "Insufficient cpu", "nodes": 2}


def test_nodes_as_json() -> None:
    answer = json.loads(capacity(*NODES, "-q", "-o", "json").stdout)
    assert (answer["nodes"], answer["shortage"]["nodes"]) == (6, 5)
    assert [tried["nodes"] for tried in answer["tried"]] == [0, 1, 2, 4, 8, 6, 5]


def test_too_few_pods_are_exit_code_1() -> None:
    assert capacity(*PODS, "--at-least", 24).exit_code == 0
    short = capacity(*PODS, "--at-least", 25)
    assert short.exit_code == 1
    assert "24 fit, --at-least is 25" in short.stderr


def test_too_many_nodes_are_exit_code_1() -> None:
    assert capacity(*NODES, "--at-most", 6).exit_code == 0
    assert capacity(*NODES, "--at-most", 5).exit_code == 1


def test_a_scenario_that_fails_is_exit_code_1(tmp_path: Path) -> None:
    path = write(tmp_path, "scenario.yaml", scenario(node("a"), node("a")))
    answer = capacity("pods", write(tmp_path, "pod.yaml", pod()), "--scenario", path)
    assert answer.exit_code == 1
    assert "scenario small Failed: " in answer.stderr
    assert "already exists" in answer.stderr


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("pods", "pod.yaml"), "--snapshot: expected a cluster"),
        (("nodes", "node.yaml"), "--snapshot: expected a cluster"),
        (("pods", "missing.yaml", "--snapshot", "node.yaml"), "missing.yaml: No such file"),
        (("pods", "node.yaml", "--snapshot", "node.yaml"), "kind: expected a Pod or an object with a pod template"),
        (("nodes", "pod.yaml", "--scenario", "scenario.yaml"), "kind: expected a Node, got 'Pod'"),
        (("pods", "broken.yaml", "--snapshot", "node.yaml"), "broken.yaml"),
        (("nodes", "two.yaml", "--snapshot", "node.yaml"), "expected one object, found 2"),
        (("pods", "nameless.yaml", "--snapshot", "node.yaml"), "metadata.name: is required"),
        (("pods", "empty.yaml", "--snapshot", "node.yaml"), "spec.containers: expected the containers"),
        (("pods", "pod.yaml", "--snapshot", "scenario.yaml"), "a Scenario is no snapshot"),
        (("nodes", "node.yaml", "--scenario", "pod.yaml"), "expected"),
        (("pods", "bad-cpu.yaml", "--snapshot", "node.yaml"), "bad-cpu.yaml: Pod in version"),
        (("nodes", "bad-room.yaml", "--scenario", "scenario.yaml"), "Node node-0: Node in version"),
        (("nodes", "bad-index.yaml", "--scenario", "scenario.yaml"), "${nothing} is not known here"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_named(
    arguments: tuple[str, ...], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "pod.yaml", pod())
    write(tmp_path, "node.yaml", node())
    write(tmp_path, "scenario.yaml", scenario(pod()))
    write(tmp_path, "bad-index.yaml", node("node-${nothing}"))
    write(tmp_path, "bad-cpu.yaml", pod(cpu="many"))
    write(tmp_path, "bad-room.yaml", node(cpu="lots"))
    write(tmp_path, "nameless.yaml", {"kind": "Pod", "metadata": {}})
    write(tmp_path, "empty.yaml", {"kind": "Pod", "metadata": {"name": "x"}})
    (tmp_path / "broken.yaml").write_text("{")
    (tmp_path / "two.yaml").write_text("a: 1\n---\nb: 1\n")
    with pytest.raises(SeatrialError) as refused:
        capacity(*arguments)
    assert why in str(refused.value)
