"""A wrong value in the environment ends any command at its start: one sentence, exit code 2."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SEATRIAL = Path(sys.executable).with_name("seatrial")
SAID = (
    "seatrial: environment: UPDATE_SCENARIO_RESULTS_STRATEGY: "
    "expected AtMovingNextStep, OnPause, OnDone, got 'Foo'\n"
)  # fmt: skip


@pytest.mark.parametrize("line", ["serve --port 0", "run x.yaml", "simulate x.yaml", "measures"])
def test_an_unknown_strategy_is_one_sentence(tmp_path: Path, line: str) -> None:
    environment = os.environ | {"UPDATE_SCENARIO_RESULTS_STRATEGY": "Foo", "XDG_STATE_HOME": str(tmp_path)}
    ended = subprocess.run([SEATRIAL, *line.split()], env=environment, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout, ended.stderr) == (2, "", SAID)
    assert not list(tmp_path.iterdir())
