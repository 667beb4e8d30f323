"""Real Kubernetes programs against `seatrial serve`. Without them every test here is skipped, with the reason."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.outside.processes import OF_THE_PROGRAMS, Kubectl, Serve
from tests.scripts import load_script


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent == item.path.parent:
            item.add_marker(pytest.mark.outside)


@pytest.fixture(scope="session")
def programs() -> Path:
    """The directory with kubectl and kube-scheduler, built if need be."""
    return built("kubectl", "kube-scheduler")


@pytest.fixture(scope="session")
def controller_manager() -> Path:
    """kube-controller-manager, built if need be."""
    return built("kube-controller-manager") / "kube-controller-manager"


def built(*names: str, version: str = "") -> Path:
    """The directory with these programs, of 1.36 by default; the test is skipped where they cannot be built."""
    try:
        script = load_script("build_kubernetes")
        directory: Path = script.ensure(names, version or script.VERSION)
    except (SystemExit, subprocess.CalledProcessError) as error:
        pytest.skip(f"the real Kubernetes programs cannot be built: {error}")
    return directory


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """A server without its own scheduler and controllers."""
    with Serve(tmp_path / "state", "--no-scheduler", "--controllers", "", *OF_THE_PROGRAMS) as server:
        yield server


@pytest.fixture
def kubectl(programs: Path, serve: Serve, tmp_path: Path) -> Kubectl:
    return Kubectl(programs / "kubectl", serve.kubeconfig, tmp_path)
