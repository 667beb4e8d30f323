"""Pages that are played from top to bottom: files are written, commands run, Python executed, answers looked for."""

import contextlib
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.docs.blocks import ROOT, Block, blocks, pages

PLAY = "play"
_COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)$", re.MULTILINE)
"""A command, with the lines that it goes on in."""
PLAYED = [page for page in pages() if any(block.mark == PLAY for block in blocks(page))]


class Reader:
    """Somebody who follows a page in an empty folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.names, self.said = folder, dict[str, Any](), ""
        (folder / "examples").symlink_to(ROOT / "examples")
        program = folder / "bin"
        program.mkdir()
        (program / "seatrial").write_text(f"#!{sys.executable}\nfrom seatrial.cli.main import main\nmain()\n")
        (program / "seatrial").chmod(0o755)
        self.environment = {
            **os.environ, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "4000",
            "PATH": f"{program}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        }  # fmt: skip
        self.background: list[subprocess.Popen[bytes]] = []

    def follow(self, block: Block) -> None:
        if block.title:
            (self.folder / block.title).write_text(block.text)
        elif block.language == "python":
            with contextlib.chdir(self.folder):
                exec(compile(block.text, block.page, "exec"), self.names)
        elif block.language == "text":
            for line in block.text.splitlines():
                assert line.partition("…")[0].strip() in self.said, self.said
        else:
            self.said = "".join(self._run(line) for line in _COMMAND.findall(block.text))

    def _run(self, line: str) -> str:
        command, _, code = line.partition("  # exit ")
        if command.endswith("&"):
            words = command.removesuffix("&").split()
            self.background.append(subprocess.Popen(words, cwd=self.folder, env=self.environment))
            time.sleep(2)
            return ""
        done = subprocess.run(
            ["bash", "-c", command], cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == int(code or 0), f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout


@pytest.mark.parametrize("page", PLAYED)
def test_a_page_can_be_followed(page: str, tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    try:
        for block in blocks(page):
            if block.mark == PLAY or (block.language == "text" and reader.said):
                reader.follow(block)
    finally:
        for process in reader.background:
            process.terminate()
            process.wait()
