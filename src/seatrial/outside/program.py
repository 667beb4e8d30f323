"""The process of an outside controller: started with a kubeconfig of its own, and ended with us in every case."""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from seatrial.model.errors import ConfigError

GRACE = 3.0
"""Seconds between SIGTERM and SIGKILL."""
TAIL_LINES, TAIL_BYTES = 3, 4096
KUBECONFIG = "{kubeconfig}"
_PR_SET_PDEATHSIG = 1


class Program:
    """One running command. `ended` is called from a thread when the process has ended by itself."""

    def __init__(
        self, command: Sequence[str], kubeconfig: Path, log: Path, ended: Callable[[], None] = lambda: None
    ) -> None:
        self.command = [word.replace(KUBECONFIG, str(kubeconfig)) for word in command]
        self._log = log
        self._ended = ended
        self._killing: threading.Timer | None = None
        environment = os.environ | {"KUBECONFIG": str(kubeconfig)}
        with log.open("wb") as output:
            try:
                self._process = subprocess.Popen(
                    self.command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment,
                    start_new_session=True, preexec_fn=_end_with_parent if sys.platform == "linux" else None,
                )  # fmt: skip
            except OSError as error:
                raise ConfigError("", f"command {self.command[0]}", error.strerror or str(error)) from error
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs."""
        return self._process.returncode

    def cpu_seconds(self) -> float | None:
        """User and system time of the process so far; None where the system does not tell."""
        try:
            fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        except (OSError, ValueError, IndexError):
            return None

    def outcome(self) -> str:
        """How it ended, in words."""
        code = self.exit_code or 0
        how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"exited with code {code}"
        said = self.last_lines()
        return f"{how}; its last output: {said}" if said else how

    def last_lines(self) -> str:
        """The end of its output."""
        try:
            with self._log.open("rb") as log:
                log.seek(max(0, self._log.stat().st_size - TAIL_BYTES))
                lines = log.read().decode(errors="replace").splitlines()
        except OSError:
            return ""
        return " | ".join(line.strip() for line in lines[-TAIL_LINES:] if line.strip())

    def stop(self) -> None:
        """Ask the process to end; it is killed if it has not ended after a while."""
        self._ended = lambda: None
        self._signal(signal.SIGTERM)
        self._killing = threading.Timer(GRACE, self._signal, [signal.SIGKILL])
        self._killing.daemon = True
        self._killing.start()

    def wait(self) -> None:
        """Wait until a process that was asked to end has ended, with everything it has started."""
        self._watcher.join(2 * GRACE)
        if self._killing is not None:
            self._killing.cancel()
        self._signal(signal.SIGKILL)

    def _watch(self) -> None:
        self._process.wait()
        self._ended()

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


def _end_with_parent() -> None:
    """Have the kernel end this process when its parent dies, killed or not."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
