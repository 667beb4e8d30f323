"""A run leaves nothing behind in its process: the next one gives the same bytes as in a process of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.examples.run_all import EXAMPLES

PLAY = """
import sys
from pathlib import Path
import seatrial
scenarios, out = sys.argv[1:-1], Path(sys.argv[-1])
for scenario in scenarios:
    seatrial.run(scenario).save(out / Path(scenario).parent.name)
"""


def played(out: Path, *names: str) -> dict[str, bytes]:
    """The results of scenarios that are run one after the other in one process."""
    scenarios = [str(EXAMPLES / name / "scenario.yaml") for name in names]
    subprocess.run([sys.executable, "-c", PLAY, *scenarios, str(out)], check=True, timeout=600)
    return {name: (out / name / "result.json").read_bytes() for name in names}


@pytest.mark.parametrize(
    "names", [("preemption-storm", "rolling-update"), ("volcano-reclaim", "volcano-small-jobs-first")], ids="-".join
)
def test_two_runs_in_one_process_and_in_two_give_the_same_bytes(names: tuple[str, str], tmp_path: Path) -> None:
    together = played(tmp_path / "together", *names)
    apart = {name: played(tmp_path / name, name)[name] for name in names}
    assert together == apart
