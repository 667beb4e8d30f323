"""The commands of docs/serve.md that kubectl is needed for, run from top to bottom as the page shows them."""

import shlex
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT, blocks
from tests.outside.conftest import built
from tests.outside.processes import Kubectl, Serve, wait_until

MARK = "tested by: tests/outside/test_serve_page.py"


def commands(page: str) -> list[tuple[list[str], str]]:
    """The kubectl commands of a page with what is printed below each, if the page shows that."""
    found: list[tuple[list[str], str]] = []
    for line in (line for block in blocks(page) if block.mark == MARK for line in block.text.splitlines()):
        if line.startswith("$ kubectl "):
            found.append((shlex.split(line)[2:], ""))
        elif found and not line.startswith("$ "):
            found[-1] = (found[-1][0], f"{found[-1][1]}{line}\n")
    return found


def test_the_commands_of_the_page_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    program = built("kubectl") / "kubectl"
    with Serve(tmp_path / "state") as server:
        kubectl = Kubectl(program, server.kubeconfig, tmp_path)
        played = commands("docs/serve.md")
        assert len(played) == 6
        for command, shown in played:
            done = kubectl.run(*command)
            assert done.returncode == (1 if shown == "no\n" else 0), done.stderr
            assert not shown or done.stdout == shown
        wait_until(lambda: kubectl("get", "pods", "-o", "wide").count("Running") == 3, 30, "three pods run")
