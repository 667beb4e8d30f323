"""Starts programs of the zoo as the ServiceAccount that their own manifests give them."""

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

import pytest

from scripts.build_zoo import Unavailable, ensure, executable
from tests.outside.processes import Kubectl, wait_until

PATIENCE = 120.0
"""Seconds in which a program does its part on a busy machine."""


def built(program: str) -> Path:
    """The executable of a program, built if need be; the test is skipped where that cannot be done."""
    try:
        ensure(program)
    except (Unavailable, subprocess.CalledProcessError) as error:
        pytest.skip(f"{program} cannot be built: {error}")
    return executable(program)


def as_service_account(kubectl: Kubectl, namespace: str, name: str, path: Path) -> Path:
    """Write a kubeconfig that has the rights of a ServiceAccount and no others."""
    config = json.loads(kubectl("config", "view", "--raw", "--minify", "-o", "json"))
    token = kubectl("create", "token", name, "--namespace", namespace, "--duration", "24h").strip()
    config["users"][0]["user"] = {"token": token}
    path.write_text(json.dumps(config))
    return path


class Running:
    """A program with a kubeconfig and a log of its own."""

    def __init__(
        self, program: str, *arguments: str, kubeconfig: Path, log: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        self._command = [str(built(program)), *arguments]
        self._environment = os.environ | {"KUBECONFIG": str(kubeconfig)} | dict(environment or {})
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log, env=self._environment)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process is not None
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(20)

    @property
    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def until(self, kubectl: Kubectl, seen: str, *arguments: str) -> None:
        """Wait until kubectl prints something while the program runs."""
        what = f"kubectl {' '.join(arguments)} prints {seen!r}"
        until(lambda: kubectl.run(*arguments).stdout.strip() == seen, what, self)

    @property
    def has_ended(self) -> bool:
        return self._process is None or self._process.poll() is not None


def until(condition: Callable[[], bool], what: str, program: Running) -> None:
    """Wait until something holds while a program runs; its log is part of the error."""

    def holds() -> bool:
        assert not program.has_ended, "the program has ended"
        return condition()

    try:
        wait_until(holds, PATIENCE, what)
    except AssertionError as error:
        raise AssertionError(f"{error}; the end of its log:\n{program.log[-3000:]}") from None


def told(result: dict[str, Any]) -> list[str]:
    """What happened in a scenario: step, entry, and the node of a pod that was bound; names of objects vary."""
    entries = [entry for listed in result["status"]["scenarioResult"]["timeline"].values() for entry in listed]
    return [
        f"{entry['step']['major']}.{entry['step']['minor']} {kind} {value.get('boundTo', '')}".rstrip()
        for entry in entries
        for kind, value in entry.items()
        if kind not in ("id", "step", "time")
    ]
