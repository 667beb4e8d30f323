"""Signals and closed pipes end a command with the code that shells give, without a traceback and without leftovers."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.test_bad_input import SCENARIO

SEATRIAL, VCSIMCTL = (Path(sys.executable).with_name(name) for name in ("seatrial", "vcsimctl"))
INTERRUPTED_IMPORT = """
import runpy, sys

class Interrupted:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupted())
sys.argv = {arguments!r}
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "good.yaml"
    path.write_text(SCENARIO)
    return path


@pytest.mark.parametrize("module", ["typer", "numpy", "seatrial.scenario", "seatrial.model.errors", "polars"])
def test_ctrl_c_while_modules_are_imported_is_no_traceback(scenario: Path, module: str) -> None:
    arguments = [str(SEATRIAL), "run", str(scenario), "--out", str(scenario.with_name("out"))]
    program = INTERRUPTED_IMPORT.format(module=module, arguments=arguments)
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (130, "")
    assert not scenario.with_name("out").exists()


def test_ctrl_c_while_vcsimctl_imports_is_no_traceback() -> None:
    program = INTERRUPTED_IMPORT.format(module="typer", arguments=[str(VCSIMCTL), "get", "clusters"])
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (130, "")


def test_sigterm_while_results_are_written_leaves_nothing(scenario: Path) -> None:
    out = scenario.with_name("out")
    process = subprocess.Popen(
        [str(SEATRIAL), "run", str(scenario), "--out", str(out), "-q"], stderr=subprocess.PIPE, text=True
    )
    try:
        while not any(out.glob(".partial-*/result.json")):
            assert process.poll() is None, "it ended before its results were seen"
            time.sleep(0.001)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, said) == (128 + signal.SIGTERM, "")
    assert not out.exists()


@pytest.mark.parametrize(
    "line", ["run good.yaml --no-report", "run --help", "measures", "config expand", "run good.yaml --list-controllers"]
)
def test_a_closed_pipe_is_no_answer_of_the_run(scenario: Path, line: str) -> None:
    """Exit code 1 would say that the run failed."""
    process = subprocess.Popen(
        [str(SEATRIAL), *line.split()],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=scenario.parent,
    )  # fmt: skip
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    said = process.stderr.read()
    process.stderr.close()
    assert (process.wait(60), said) == (128 + signal.SIGPIPE, "")
