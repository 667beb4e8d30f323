"""Loss of power: after every prefix of the writes that were not synced, a store starts with all acknowledged writes.

The system calls of a writer are recorded with strace. 2 recorded runs here; SEATRIAL_POWER_RUNS=50 in `make test-long`.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.store.durable import recording
from tests.store.durable.opening import opened

RUNS = int(os.environ.get("SEATRIAL_POWER_RUNS", "2"))
ROOT = Path(__file__).parents[3]


def recorded(folder: Path, seed: int) -> str:
    trace = folder.with_suffix(".trace")
    command = ["strace", "-xx", "-s", "1000000", "-e", f"trace={recording.TRACED}", "-o", str(trace)]
    command += [sys.executable, "-m", recording.__name__, str(folder), str(seed)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=120)
    return trace.read_text()


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed: the writes cannot be recorded")
@pytest.mark.parametrize("seed", range(RUNS))
def test_no_prefix_of_the_writes_loses_what_was_acknowledged(tmp_path: Path, seed: int) -> None:
    folder, started, seen = tmp_path / "store", 0, set[tuple[tuple[str, bytes], ...]]()
    for files, acknowledged in recording.Replay(folder).states(recorded(folder, seed)):
        content = tuple((name, bytes(data)) for name, data in sorted(files.items()))
        if content in seen:
            continue
        seen.add(content)
        state = tmp_path / "state"
        state.mkdir()
        for name, data in content:
            (state / name).write_bytes(data)
        store, durability = opened(state)
        assert store.revision >= acknowledged
        assert len(store.everything()) >= min(acknowledged, 1)
        durability.abandon()
        shutil.rmtree(state)
        started += 1
    assert acknowledged == store.revision
    assert started > 20
