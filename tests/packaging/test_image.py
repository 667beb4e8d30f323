"""The image of deploy/Containerfile, as far as no container engine is needed: what it copies, installs and runs."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from seatrial.operator.pods import USER

ROOT = Path(__file__).parents[2]
CONTAINERFILE = ROOT / "deploy" / "Containerfile"
EXAMPLE = ROOT / "examples" / "first-steps" / "scenario.yaml"


def instructions() -> list[tuple[str, str]]:
    text = re.sub(r"^#.*\n", "", CONTAINERFILE.read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    return [(line.split()[0], line.partition(" ")[2].strip()) for line in text.splitlines() if line.strip()]


def sources() -> list[str]:
    """What is copied from the repository."""
    return [
        word for name, rest in instructions() if name == "COPY" and "--from" not in rest for word in rest.split()[:-1]
    ]


def test_the_image_runs_as_an_unknown_user() -> None:
    listed = instructions()
    assert ("USER", f"{USER}:{USER}") in listed
    assert ("ENTRYPOINT", '["/opt/seatrial/bin/seatrial"]') in listed
    assert sources()
    for source in sources():
        assert (ROOT / source).exists()


def test_the_last_stage_installs_nothing() -> None:
    """So it has no compiler and no package manager but what the slim image of Python has."""
    listed = instructions()
    last = listed[max(position for position, (name, _) in enumerate(listed) if name == "FROM") :]
    assert last[0] == ("FROM", "python:3.13-slim")
    assert not [rest for name, rest in last if name == "RUN"]
    assert [rest for name, rest in last if name == "COPY"] == ["--from=build /opt/seatrial /opt/seatrial"]


@pytest.mark.release
def test_what_the_image_installs_serves_all_roles_and_writes_nothing_there(tmp_path: Path) -> None:
    """The RUN line of the Containerfile in a directory of its own: no daemon is needed for it."""
    for source in sources():
        copy = shutil.copytree if (ROOT / source).is_dir() else shutil.copy
        copy(ROOT / source, tmp_path / Path(source).name)
    [run] = [rest for name, rest in instructions() if name == "RUN"]
    installed, home = tmp_path / "opt" / "seatrial", tmp_path / "home"
    run = run.replace("/opt/", f"{tmp_path}/opt/").replace("python -m", f"{sys.executable} -m")
    subprocess.run(["sh", "-ec", run], cwd=tmp_path, check=True, timeout=600)
    shutil.rmtree(tmp_path / "src")
    home.mkdir()
    before = {path: path.stat().st_mtime_ns for path in installed.rglob("*") if not path.is_symlink()}
    assert any(path.suffix == ".pyc" for path in before)

    def seatrial(*arguments: str) -> "subprocess.CompletedProcess[str]":
        command = [str(installed / "bin" / "seatrial"), *arguments]
        environment = {"HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1", "PATH": os.defpath}
        return subprocess.run(command, timeout=120, cwd=home, env=environment, capture_output=True, text=True)

    for role in ("serve", "scenario-runner", "operator", "simulate"):
        assert seatrial(role, "--help").returncode == 0
    assert seatrial("run", str(EXAMPLE)).returncode == 0
    done = seatrial("operator", "--kubeconfig", "/absent")
    assert done.returncode == 2
    assert "/absent: --kubeconfig: no such file" in done.stderr
    assert {path: path.stat().st_mtime_ns for path in installed.rglob("*") if not path.is_symlink()} == before
