"""Another version of Seatrial next to this one: a commit of the repository, or a wheel, run by the same interpreter."""

import os
import resource
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

from seatrial.model.errors import ConfigError, SeatrialError

HERE = Path(__file__).parents[2]
SEATRIAL, VCSIMCTL = "seatrial.cli.main", "seatrial.vcsim.main"
LONGEST = 3600.0
VERSION = ("--kubernetes-version", "1.36")
"""The version that every tree knows: older ones have no option and know no other."""


@dataclass(frozen=True, slots=True)
class Tree:
    """A folder that has the package `seatrial`."""

    name: str
    packages: Path
    kernel: str = "off"
    """SEATRIAL_KERNEL: whether its scheduler is compiled; a version without a kernel does not read it."""
    oracle: Path | None = None
    """A built schedoracle that stands for this version: kube-scheduler itself."""

    def run(self, *arguments: str, command: str = SEATRIAL) -> tuple[float, str]:
        """CPU-seconds of a command and what it printed; a figure that is missed is no failure."""
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        environment |= {"PYTHONPATH": str(self.packages), "SEATRIAL_KERNEL": self.kernel}
        name = "seatrial" if command == SEATRIAL else "vcsimctl"
        before, said = seconds_of_children(), f"{self.name}: {name} {' '.join(arguments)}"
        try:
            done = subprocess.run(
                [sys.executable, "-c", f"from {command} import main; main()", *arguments],
                env=environment, capture_output=True, text=True, timeout=LONGEST, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise SeatrialError(f"{said}: not done after {LONGEST:g} s; try a smaller --scale") from error
        if done.returncode not in (0, 1):
            raise SeatrialError(f"{said}: {done.stderr.strip()}")
        return seconds_of_children() - before, done.stdout

    def version_option(self, *command: str) -> tuple[str, ...]:
        """What makes a command simulate the version that both trees know; empty where it knows that one alone."""
        return VERSION if VERSION[0] in self.run(*command, "--help")[1] else ()


def this_tree() -> Tree:
    """The package that is running."""
    return Tree("this", HERE)


def tree_of_commit(commit: str, folder: Path) -> Tree:
    """The sources of a commit of the repository that this package is a checkout of."""
    try:
        found = _git("rev-parse", "--verify", "--end-of-options", f"{commit}^{{commit}}").decode().strip()
        sources = _git("archive", "--format=zip", f"{found}:src")
    except (OSError, subprocess.CalledProcessError) as error:
        why = getattr(error, "stderr", b"").decode().strip() or "this is no checkout of the repository"
        raise ConfigError("", "--against-commit", f"{commit}: {why}") from error
    archive = folder / "commit.zip"
    archive.write_bytes(sources)
    return _unpacked(commit, archive, folder)


def _git(*arguments: str) -> bytes:
    return subprocess.run(["git", "-C", str(HERE.parent), *arguments], capture_output=True, check=True).stdout


def tree_of_wheel(wheel: Path, folder: Path) -> Tree:
    """The package in a wheel."""
    return _unpacked(wheel.name, wheel, folder)


def _unpacked(name: str, archive: Path, folder: Path) -> Tree:
    target = folder / "tree"
    try:
        with zipfile.ZipFile(archive) as zipped:
            zipped.extractall(target)
    except zipfile.BadZipFile as error:
        raise ConfigError(str(archive), "", "expected a wheel") from error
    if not (target / "seatrial" / "__init__.py").exists():
        raise ConfigError(str(archive), "", "has no package seatrial")
    return Tree(name, target)


def seconds_of_children() -> float:
    """CPU-seconds of all processes that this one has started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
