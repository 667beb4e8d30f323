"""`seatrial operator` on the command line: what it says where it cannot work."""

import os
import socket
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.operator.cluster import seatrial_cluster
from tests.operator.kubelet import SEATRIAL, free_port
from tests.operator.processes import OperatorProcess
from tests.outside.processes import Serve, wait_until


def operator(*flags: str, home: Path) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if key != "KUBECONFIG"} | {"HOME": str(home)}
    command = [*SEATRIAL, "operator", *flags]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment, check=False)


def test_a_cluster_without_the_definitions_is_told_how_to_get_them(tmp_path: Path) -> None:
    with Serve(tmp_path / "state", "--no-scheduler", "--controllers", "") as serve:
        done = operator("--kubeconfig", str(serve.kubeconfig), home=tmp_path)
    assert done.returncode == 2
    assert "is not served; install the CustomResourceDefinitions: seatrial operator manifests" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("content", ["{}", "[", "a: b", ""])
def test_a_bad_kubeconfig_is_named(tmp_path: Path, content: str) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text(content)
    done = operator("--kubeconfig", str(path), home=tmp_path)
    assert done.returncode == 2
    assert "seatrial: " in done.stderr
    assert str(path) in done.stderr
    assert "Traceback" not in done.stderr


def test_no_cluster_at_all_is_said(tmp_path: Path) -> None:
    done = operator(home=tmp_path)
    assert done.returncode == 2
    assert "no cluster: neither a kubeconfig nor a service account was found" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_cluster_that_does_not_answer_is_named(tmp_path: Path) -> None:
    server = f"http://127.0.0.1:{free_port()}"
    document = {
        "clusters": [{"name": "c", "cluster": {"server": server}}],
        "users": [{"name": "u", "user": {}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    (tmp_path / "kubeconfig").write_text(yaml.safe_dump(document))
    done = operator("--kubeconfig", str(tmp_path / "kubeconfig"), home=tmp_path)
    assert done.returncode == 2
    assert server in done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_of_metrics_that_is_taken_is_named(tmp_path: Path) -> None:
    with seatrial_cluster(tmp_path) as cluster, socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = operator("--kubeconfig", str(cluster.kubeconfig), "--metrics-port", port, home=tmp_path)
    assert done.returncode == 2
    assert "--metrics-port" in done.stderr and port in done.stderr
    assert "Traceback" not in done.stderr


def test_it_ends_on_sigterm_with_exit_code_0(tmp_path: Path) -> None:
    with seatrial_cluster(tmp_path) as cluster:
        process = OperatorProcess(cluster.kubeconfig, tmp_path / "operator.log")
        process.start()
        wait_until(lambda: "authentication has finished" in process.log.read_text(), 60, "it is at work")
        assert process.stop() == 0
