"""Temporary folders of worker processes: those of a killed process are removed by the next one."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from seatrial.sweeps.scratch import YOUNG, make_scratch

KILLED = """
import os, signal
from seatrial.sweeps.scratch import make_scratch
print(make_scratch()[0], flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))


def age(folder: Path) -> None:
    old = time.time() - YOUNG - 1
    os.utime(folder, (old, old))


def test_a_folder_is_removed_by_its_process() -> None:
    folder, remove = make_scratch()
    assert folder.is_dir()
    remove()
    assert not folder.exists()


def test_the_folder_of_a_killed_process_is_removed_by_the_next_one() -> None:
    done = subprocess.run([sys.executable, "-c", KILLED], capture_output=True, text=True, timeout=60)
    left = Path(done.stdout.strip())
    assert left.is_dir()
    age(left)
    _, remove = make_scratch()
    remove()
    assert not left.exists()


def test_the_folder_of_a_living_process_stays() -> None:
    folder, remove = make_scratch()
    age(folder)
    _, remove_other = make_scratch()
    assert folder.is_dir()
    remove_other()
    remove()


def test_a_folder_that_is_being_made_stays(tmp_path: Path) -> None:
    young = tmp_path / "seatrial-sweep-young"
    young.mkdir()
    (young / "lock").touch()
    _, remove = make_scratch()
    assert young.is_dir()
    remove()
