"""vcsimctl as a user runs it: a process of its own with a home of its own."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

COMMAND = "from seatrial.vcsim.main import main; main()"
LIMIT = 240


@dataclass(frozen=True)
class Answer:
    """What a command printed, and its exit code."""

    code: int
    output: str
    errors: str


@dataclass(frozen=True)
class User:
    """Somebody with a home directory."""

    home: Path

    def __call__(self, *arguments: str | Path) -> Answer:
        environment = os.environ | {"HOME": str(self.home)}
        environment.pop("KUBECONFIG", None)
        done = subprocess.run(
            [sys.executable, "-c", COMMAND, *map(str, arguments)],
            env=environment,
            cwd=self.home,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        return Answer(done.returncode, done.stdout, done.stderr)
