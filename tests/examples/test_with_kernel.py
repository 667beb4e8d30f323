"""Every example gives the same result with the compiled kernel and without it, byte for byte."""

import filecmp
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.examples.run_all import EXAMPLES, names
from tests.scheduler.evaluator.kernels import needs_kernel

ROOT = EXAMPLES.parent
pytestmark = needs_kernel


def run_all(kernel: str, out: Path) -> None:
    """Run all examples, the large one too, in one process."""
    paths = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    environment = {**os.environ, "SEATRIAL_KERNEL": kernel, "PYTHONPATH": paths}
    command = [sys.executable, "-m", "tests.examples.run_all", str(out), *names()]
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, timeout=600, check=True)


def test_results_of_examples_are_equal_with_and_without_the_kernel(tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(run_all, ("on", "off"), (tmp_path / "on", tmp_path / "off")))
    written = sorted(path.relative_to(tmp_path / "on") for path in (tmp_path / "on").rglob("result.json"))
    assert len(written) >= len(names())
    assert written == sorted(path.relative_to(tmp_path / "off") for path in (tmp_path / "off").rglob("result.json"))
    for path in written:
        assert filecmp.cmp(tmp_path / "on" / path, tmp_path / "off" / path, shallow=False), path
