"""The operator as a process."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Self


class OperatorProcess:
    """`seatrial operator`, which may be killed and started again."""

    def __init__(self, kubeconfig: Path, log: Path, *flags: str) -> None:
        self.log = log
        self._command = [str(Path(sys.executable).with_name("seatrial")), "operator"]
        self._command += ["--kubeconfig", str(kubeconfig), *flags]
        self._started: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self.log.open("ab") as log:
            environment = {key: value for key, value in os.environ.items() if key != "KUBECONFIG"}
            self._started = subprocess.Popen(self._command, stdout=log, stderr=log, env=environment)

    @property
    def _process(self) -> subprocess.Popen[bytes]:
        assert self._started is not None, "not started"
        return self._started

    def kill(self) -> None:
        """End it without a chance to do anything more."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait(10)

    def stop(self) -> int:
        self._process.terminate()
        return self._process.wait(20)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self.stop()
