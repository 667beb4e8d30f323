"""A Go program written with client-go, as controllers are: informers, leader election, server-side apply."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.outside.processes import Serve

SOURCE = Path(__file__).parent / "goclient"
WORKED = [
    "informer has what was there",
    "informer sees a creation",
    "informer sees an update",
    "informer sees a deletion",
    "leader election",
    "server-side apply",
    "metadata and dynamic clients",
]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("go") is None:
        pytest.skip("the Go program cannot be built: no go on PATH")
    target = tmp_path_factory.mktemp("goclient") / "goclient"
    environment = os.environ | {"CGO_ENABLED": "0"}
    built = subprocess.run(["go", "build", "-o", str(target), "."], cwd=SOURCE, env=environment, capture_output=True)
    if built.returncode:
        pytest.skip(f"the Go program cannot be built: {built.stderr.decode()[-500:]}")
    return target


@pytest.mark.parametrize("content_type", ["application/json", "application/vnd.kubernetes.protobuf"])
def test_client_go(program: Path, serve: Serve, content_type: str) -> None:
    command = [str(program), "-kubeconfig", str(serve.kubeconfig), "-content-type", content_type]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == WORKED
