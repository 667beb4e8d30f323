"""The commands that the documentation shows do what it says: each page is played from top to bottom."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT, blocks

PAGES = ("docs/capacity.md", "docs/compare.md", "docs/operator.md", "docs/sweep.md")
_COMMAND = re.compile(r"^\$ (seatrial .*?)(?:\s+# exit (\d))?$", re.MULTILINE)


def commands(page: str) -> list[tuple[list[str], int]]:
    text = "\n".join(block.text for block in blocks(page) if block.language == "console" and not block.mark)
    return [(shlex.split(command), int(code or 0)) for command, code in _COMMAND.findall(text)]


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_work(page: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    program = [sys.executable, "-c", "from seatrial.cli.main import main; main()"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    played = commands(page)
    assert played
    for command, code in played:
        done = subprocess.run(
            [*program, *command[1:]], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == code, f"{command}\n{done.stdout}{done.stderr}"


def test_the_walk_through_tells_the_figures_it_gets(tmp_path: Path) -> None:
    from seatrial.api import run
    from seatrial.results.comparison.comparison import compare

    folder = ROOT / "examples" / "node-saving"
    runs = []
    for name, config in (("default", None), ("most", folder / "scheduler.most.yaml")):
        result = run(folder / "scenario.yaml", config)
        runs.append(replace(result.run, name=name))
    found = compare(runs)
    assert found.number("nodes_used").values == (30, 12)
    assert found.number("allocation_cpu").values == (37.5, 37.5)
    assert found.number("spread_hostname").values == (3, 11)
    assert round(found.number("balance_cpu").values[1] or 0, 1) == 47.8
