"""The user guide of vcsimctl: its commands work from top to bottom, and its comparisons are examples that tests run."""

import re
import shlex
import shutil
from pathlib import Path

from tests.proofs import proves
from tests.vcsim.processes import User

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "vcsimctl.md"
_BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
_COMMAND = re.compile(r"^\$ vcsimctl (.*)$", re.MULTILINE)


def commands() -> list[list[str]]:
    text = "\n".join(_BLOCK.findall(PAGE.read_text()))
    return [shlex.split(command) for command in _COMMAND.findall(text)]


@proves("VC-009", "VC-045")
def test_the_guide_works_from_top_to_bottom(tmp_path: Path) -> None:
    """Cluster, test, report and deletion, as the guide shows them."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    user = User(tmp_path)
    played = [command for command in commands() if "--compare" not in command and "--set" not in command]
    try:
        for command in played:
            answer = user(*command)
            assert answer.code == 0, f"{command}\n{answer.output}{answer.errors}"
    finally:
        user("delete", "cluster", "kind-simulator")
    assert [command[0] for command in played[:4]] == ["create", "get", "status", "kubeconfig"]
    assert "framework for tests, not a collection of" in PAGE.read_text()


def test_the_guide_sets_values_of_an_example(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples" / "vcsimctl", tmp_path / "here")
    (command,) = (command for command in commands() if "--set" in command)
    answer = User(tmp_path / "here")(*command)
    assert answer.code == 0, answer.errors
    assert answer.output.startswith("A: as it is\nB: queue/production.weight=4, queue/research.capability.cpu=8\n")


def test_every_comparison_of_the_guide_is_an_example() -> None:
    """Those of tests/vcsim/test_virtual.py, which asserts their figures."""
    shown = {Path(command[-1]).parent.name for command in commands() if "--compare" in command}
    assert shown == {path.parent.name for path in (ROOT / "examples" / "vcsimctl").glob("*/conf-b.yaml")}
