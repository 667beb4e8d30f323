"""A sweep on a Ray cluster of two nodes: the results of this machine, also when a worker is killed.

Tests: sweeps/engines/ray_cluster.py, sweeps/worker.py
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sweeps.files import axis, write_sweep

PROGRAM = [sys.executable, "-c", "from seatrial.cli.main import main; main()"]
ADDRESS = "127.0.0.1:26379"
ENVIRONMENT = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0"}


@pytest.fixture
def cluster() -> Iterator[list["subprocess.Popen[bytes]"]]:
    """A head and a worker, as processes of their own."""
    pytest.importorskip(
        "ray", reason="ray is not installed (pip install 'seatrial[ray]'): the Ray engine is NOT TESTED"
    )
    start = [
        str(Path(sys.executable).with_name("ray")),
        "start",
        "--block",
        "--num-cpus",
        "1",
        "--node-ip-address",
        "127.0.0.1",
    ]
    head = [*start, "--head", "--port", "26379", "--include-dashboard", "false"]
    nodes: list[subprocess.Popen[bytes]] = []
    try:
        for command in (head, [*start, "--address", ADDRESS]):
            nodes.append(
                subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            )
            wait_for_nodes(len(nodes))
        yield nodes
    finally:
        for node in reversed(nodes):
            node.send_signal(signal.SIGTERM)
        for node in nodes:
            node.wait(timeout=60)


def wait_for_nodes(count: int) -> None:
    """Wait in a process of its own: one process connects to one cluster in its life."""
    code = (
        "import ray, sys, time\n"
        "for _ in range(60):\n"
        "    try:\n"
        f"        ray.init(address={ADDRESS!r}, log_to_driver=False, logging_level='ERROR')\n"
        "        break\n"
        "    except Exception: time.sleep(1)\n"
        "for _ in range(60):\n"
        f"    if sum(node['Alive'] for node in ray.nodes()) >= {count}: sys.exit(0)\n"
        "    time.sleep(1)\n"
        "sys.exit(1)\n"
    )
    subprocess.run([sys.executable, "-c", code], env=ENVIRONMENT, check=True, timeout=180)


@pytest.mark.long
def test_a_cluster_gives_the_results_of_this_machine_when_a_worker_is_killed(
    cluster: list["subprocess.Popen[bytes]"], tmp_path: Path
) -> None:
    path = write_sweep(tmp_path, axes=[axis("nodes", list(range(1, 41)))], objectives=["nodes_used"])
    command = [*PROGRAM, "sweep", str(path), "--out"]
    subprocess.run([*command, str(tmp_path / "local")], check=True, timeout=600)
    on_ray = subprocess.Popen(
        [*command, str(tmp_path / "ray"), "--engine", "ray", "--address", ADDRESS], env=ENVIRONMENT
    )
    while on_ray.poll() is None and not any((tmp_path / "ray").glob("outcomes/part-*")):
        time.sleep(0.1)
    cluster[1].send_signal(signal.SIGTERM)
    assert on_ray.wait(timeout=600) == 0
    tables = [(tmp_path / name / "sweep.parquet").read_bytes() for name in ("local", "ray")]
    assert tables[0] == tables[1]


@pytest.mark.long
def test_no_cluster_at_the_address_is_exit_code_2(tmp_path: Path) -> None:
    pytest.importorskip(
        "ray", reason="ray is not installed (pip install 'seatrial[ray]'): the Ray engine is NOT TESTED"
    )
    path = write_sweep(tmp_path)
    command = [*PROGRAM, "sweep", str(path), "--out", str(tmp_path), "--engine", "ray", "--address", "127.0.0.1:1"]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 2
    assert "--address" in done.stderr and "Traceback" not in done.stderr
