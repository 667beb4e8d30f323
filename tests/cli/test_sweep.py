"""`seatrial sweep`: processes, a kill in the middle, and input that cannot be used."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from typer.testing import CliRunner

from seatrial.cli.main import build
from seatrial.model.errors import ConfigError
from seatrial.results import Run
from tests.sweeps import plugins_that_stop
from tests.sweeps.files import axis, write_sweep

PROGRAM = [sys.executable, "-c", "from seatrial.cli.main import main; main()"]
STOPPING: dict[str, Any] = {
    "plugins": ["plugins.py"],
    "schedulerConfigs": ["scheduler.yaml"],
    "axes": [axis("nodes", [1, 2, 3])],
}


def sweep(*arguments: Path | str | int) -> Any:
    result = CliRunner().invoke(build(), ["sweep", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def write_stopping_sweep(folder: Path) -> Path:
    """A sweep whose last point ends its process, or waits while a file exists."""
    shutil.copy(plugins_that_stop.__file__, folder / "plugins.py")
    enabled = {"multiPoint": {"enabled": [{"name": "StopsAtThree"}]}}
    profile = {"schedulerName": "default-scheduler", "plugins": enabled}
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [profile],
    }
    (folder / "scheduler.yaml").write_text(yaml.safe_dump(document))
    return write_sweep(folder, **STOPPING)


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def is_running(pid: int) -> bool:
    """Whether a process works on; one that ended and was not waited for does not."""
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_runs_of_the_front_are_kept_on_request(tmp_path: Path) -> None:
    path = write_sweep(tmp_path, axes=[axis("nodes", [2, 1, 3])], objectives=["nodes_used"])
    done = sweep(path, "--out", tmp_path / "out", "--processes", 1, "--keep-runs")
    assert done.exit_code == 0
    (kept,) = (tmp_path / "out" / "runs").iterdir()
    assert f"written {kept}" in done.stdout
    table = pl.read_parquet(tmp_path / "out" / "sweep.parquet")
    (number,) = table.filter(table["point"] == int(kept.name))["nodes_used"]
    run = Run.load(kept)
    assert (kept.name, len({pod.node for pod in run.pods})) == ("1", number)


def test_keeping_runs_needs_objectives(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="which needs objectives"):
        sweep(write_sweep(tmp_path, axes=[axis("nodes", [1])]), "--keep-runs", "--out", tmp_path / "out")


def test_one_and_two_processes_give_the_same_bytes(tmp_path: Path) -> None:
    objectives = ["nodes_used", "balance_cpu"]
    path = write_sweep(tmp_path, axes=[axis("nodes", [1, 2, 3])], seeds=2, objectives=objectives)
    for processes in (1, 2):
        done = sweep(path, "--out", tmp_path / str(processes), "--processes", processes)
        assert done.exit_code == 0
        assert "6 points succeeded, 0 failed" in done.stdout
        assert "1 of 3 settings on the front" in done.stdout
    tables = [(tmp_path / name / "sweep.parquet").read_bytes() for name in ("1", "2")]
    pages = [(tmp_path / name / "sweep.html").read_text() for name in ("1", "2")]
    assert tables[0] == tables[1]
    assert pages[0] == pages[1]
    assert "<svg" in pages[0]
    again = sweep(path, "--out", tmp_path / "1")
    assert "6 of 6 points are known already" in again.stderr


def test_a_point_that_ends_its_process_fails_alone(tmp_path: Path) -> None:
    path = write_stopping_sweep(tmp_path)
    done = sweep(path, "--out", tmp_path / "out", "--processes", 2, "--retries", 0)
    assert done.exit_code == 1
    assert "point 2 (nodes 3, seed 0): its process ended before the run did" in done.stderr
    table = pl.read_parquet(tmp_path / "out" / "sweep.parquet")
    assert table["phase"].to_list() == ["Succeeded", "Succeeded", "Failed"]


def test_a_killed_sweep_leaves_no_process_and_goes_on_where_it_was(tmp_path: Path) -> None:
    path, hold = write_stopping_sweep(tmp_path), tmp_path / "hold"
    hold.touch()
    environment = {**os.environ, "SEATRIAL_TEST_HOLD": str(hold)}
    command = [*PROGRAM, "sweep", str(path), "--out", str(tmp_path / "out"), "--processes", "1"]
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as killed:
        try:
            wait_for(lambda: any((tmp_path / "out").glob("outcomes/part-*")) and hold.with_suffix(".pid").exists())
        finally:
            killed.send_signal(signal.SIGKILL)
    worker = int(hold.with_suffix(".pid").read_text())
    wait_for(lambda: not is_running(worker))
    hold.unlink()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "of 3 points are known already" in done.stderr
    table = pl.read_parquet(tmp_path / "out" / "sweep.parquet")
    assert table["nodes_used"].to_list() == [1, 2, 3]


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "unknown field": ({"scenario": "a"}, "unknown field"),
    "no scenario": ({"scenarios": []}, "scenarios"),
    "missing scenario": ({"scenarios": ["no.yaml"]}, "no.yaml"),
    "missing configuration": ({"schedulerConfigs": ["no.yaml"]}, "no.yaml"),
    "missing plugin": ({"plugins": ["no.py"]}, "no.py"),
    "both paths": ({"axes": [axis("a", [1], config="a", scenario="b")]}, r"axes\[0\]"),
    "no values": ({"axes": [axis("a", [])]}, r"axes\[0\]"),
    "no path": ({"axes": [axis("a", [1], config="a[")]}, "is not a path"),
    "no such item": ({"axes": [axis("a", [1], scenario="spec.generators[9].count")]}, "axis a"),
    "one name twice": ({"axes": [axis("a", [1]), axis("a", [1])]}, "two axes"),
    "a range without step": ({"axes": [{"name": "a", "config": "a", "range": {"from": 1, "to": 2}}]}, "range.step"),
    "seeds twice": ({"seeds": [1, 1]}, "seeds"),
    "no seed": ({"seeds": 0}, "seeds"),
    "unknown search": ({"search": "all"}, "search"),
    "too many points": ({"seeds": 1_000_000}, "at most"),
    "a list": ({"objectives": "nodes_used"}, "objectives"),
}


@pytest.mark.parametrize(("fields", "why"), BAD.values(), ids=list(BAD))
def test_a_bad_sweep_is_refused(fields: dict[str, Any], why: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=why):
        sweep(write_sweep(tmp_path, **fields), "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [(["--address", "x:1"], "--address"), (["--engine", "ray", "--processes", "2"], "--processes")],
)
def test_options_of_the_other_engine_are_refused(arguments: list[str], why: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=why):
        sweep(write_sweep(tmp_path), *arguments)


@pytest.mark.parametrize("content", [None, b"\xff\xfe", b"a: [", b"[]", b""])
def test_an_unreadable_file_is_one_message_and_exit_code_2(content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "sweep.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"sweep\.yaml"):
        sweep(path)


def test_the_command_ends_with_exit_code_2(tmp_path: Path) -> None:
    path = write_sweep(tmp_path, seeds=0)
    done = subprocess.run([*PROGRAM, "sweep", str(path)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "seeds" in done.stderr and "Traceback" not in done.stderr
