"""Starting and stopping the processes that outside tests are about."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, Self

OF_THE_PROGRAMS = ("--kubernetes-version", "1.36")
"""The version of commands that are compared with the real programs, which are those of v1.36.3."""


def wait_until(condition: Callable[[], bool], seconds: float, what: str) -> None:
    """Poll until something holds."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds:g} s: {what}")
        time.sleep(0.1)


def free_port() -> int:
    """A port of loopback that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Serve:
    """A `seatrial serve` process; it may be killed and started again on the same port and data."""

    def __init__(self, state: Path, *flags: str, port: int = 0) -> None:
        self.state = state
        self.flags = flags
        self.port = port
        self.url = ""
        self.kubeconfig = Path()
        self._started: subprocess.Popen[str] | None = None

    def start(self) -> None:
        state = ["--data-dir", str(self.state)] if "--insecure" not in self.flags else []
        command = [str(Path(sys.executable).with_name("seatrial")), "serve", "--port", str(self.port)]
        environment = os.environ | {"XDG_STATE_HOME": str(self.state), "PYTHONFAULTHANDLER": "1"}
        self._started = subprocess.Popen(
            [*command, *state, *self.flags], stdout=subprocess.PIPE, text=True, env=environment
        )
        self.kubeconfig = Path(self._announced("kubeconfig"))
        self.url = self._announced("ready")
        self.port = int(self.url.rpartition(":")[2])

    @property
    def _process(self) -> subprocess.Popen[str]:
        assert self._started is not None, "not started"
        return self._started

    @property
    def _output(self) -> IO[str]:
        assert self._process.stdout is not None
        return self._process.stdout

    def _announced(self, what: str) -> str:
        """The rest of the next line of output, which begins with this word."""
        line = self._output.readline()
        found = re.fullmatch(rf"{what}: (.+)\n", line)
        assert found is not None, line
        return found[1]

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal and wait for the end; the exit code."""
        self._process.send_signal(number)
        try:
            return self._process.wait(10)
        except subprocess.TimeoutExpired:
            # The fault handler prints what each thread does; a server that stays would disturb other tests.
            self._process.send_signal(signal.SIGABRT)
            self._process.wait(10)
            raise
        finally:
            self._output.close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self.stop()


class Kubectl:
    """The real kubectl, pointed at a server."""

    def __init__(self, program: Path, kubeconfig: Path, directory: Path, seconds: float = 60) -> None:
        """`seconds`: how long a command may take."""
        self._program = program
        self._kubeconfig = kubeconfig
        self._directory = directory
        self._seconds = seconds

    def run(self, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*arguments),
            input=stdin,
            capture_output=True,
            text=True,
            timeout=self._seconds,
            env=os.environ | {"HOME": str(self._directory), "KUBECTL_EXTERNAL_DIFF": "diff -u -N"},
        )

    def command(self, *arguments: str) -> list[str]:
        return [str(self._program), "--kubeconfig", str(self._kubeconfig), *arguments]

    def __call__(self, *arguments: str, stdin: str = "") -> str:
        """Standard output of a command that must succeed."""
        done = self.run(*arguments, stdin=stdin)
        assert done.returncode == 0, f"kubectl {' '.join(arguments)}: {done.stderr or done.stdout}"
        return done.stdout

    def json(self, *arguments: str) -> Any:
        return json.loads(self(*arguments, "-o", "json"))

    def apply(self, *documents: dict[str, Any]) -> None:
        self("apply", "-f", "-", stdin="\n---\n".join(json.dumps(document) for document in documents))

    def create(self, *documents: dict[str, Any]) -> None:
        body = {"apiVersion": "v1", "kind": "List", "items": list(documents)}
        self("create", "-f", "-", stdin=json.dumps(body))


class KubeScheduler:
    """The real kube-scheduler with its default configuration, and its log."""

    def __init__(self, program: Path, kubeconfig: Path, log: Path) -> None:
        self._command = [str(program), "--kubeconfig", str(kubeconfig), "--secure-port", "0", "-v", "2"]
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process is not None
        self._process.terminate()
        self._process.wait(20)

    @property
    def log(self) -> str:
        return self._log.read_text(errors="replace")
