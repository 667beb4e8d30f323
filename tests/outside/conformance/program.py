"""Runs specs of the e2e program, and reads its report."""

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CLEANING_UP = 60
"""Seconds that the program gets for its end after its own time limit."""


@dataclass(frozen=True)
class Spec:
    """What became of a spec."""

    name: str
    state: str
    message: str
    seconds: float


class E2eProgram:
    """The e2e program, pointed at a server."""

    def __init__(self, program: Path, kubectl: Path, kubeconfig: Path, directory: Path) -> None:
        self._program, self._kubectl = program, kubectl
        self._kubeconfig, self._directory = kubeconfig, directory

    def run(self, focus: str, skip: str, seconds: int) -> list[Spec]:
        """Run the specs that one expression matches and the other does not, for so long at most."""
        report, log = self._directory / "report.json", self._directory / "e2e.log"
        command = [
            str(self._program),
            "--provider=skeleton",
            f"--kubeconfig={self._kubeconfig}",
            f"--kubectl-path={self._kubectl}",
            "--disable-log-dump",
            "--ginkgo.no-color",
            f"--ginkgo.focus={focus}",
            f"--ginkgo.skip={skip or '^$'}",
            f"--ginkgo.json-report={report}",
            f"--ginkgo.timeout={seconds}s",
        ]
        limit = seconds + CLEANING_UP
        try:
            with log.open("wb") as output:
                subprocess.run(command, stdout=output, stderr=output, cwd=self._directory, timeout=limit, check=False)
        except subprocess.TimeoutExpired as error:
            raise AssertionError(f"not within {limit} s; its log ends with\n{log.read_text()[-5000:]}") from error
        specs = [_spec(entry) for entry in json.loads(report.read_text())[0]["SpecReports"] if _has_run(entry)]
        return [spec for spec in specs if spec.name]


def spec_names(program: Path) -> list[str]:
    """The names of all specs."""
    command = [str(program), "--provider=skeleton", "--ginkgo.dry-run", "--list-tests"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return [found[1] for line in done.stdout.splitlines() if (found := re.search(r"(\[sig-.*)$", line))]


def _has_run(entry: dict[str, Any]) -> bool:
    """Whether a spec was chosen; one that skips itself says why."""
    return entry["State"] not in ("skipped", "pending") or bool(entry.get("Failure", {}).get("Message"))


def _spec(entry: dict[str, Any]) -> Spec:
    name = " ".join([*(entry["ContainerHierarchyTexts"] or []), entry["LeafNodeText"]]).strip()
    message = entry.get("Failure", {}).get("Message", "")
    if entry["LeafNodeType"] != "It" and entry["State"] == "passed":
        name = ""  # set-up and reports of the suite
    return Spec(name, entry["State"], message, entry["RunTime"] / 1e9)
