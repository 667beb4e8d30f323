"""The real kubectl on a cluster that vcsimctl made: the look of the seed."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.outside.processes import Kubectl
from tests.proofs import proves
from tests.vcsim.files import cluster, group, written
from tests.vcsim.processes import User


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[User]:
    """A user with the cluster `kind-simulator`, merged into the user's own kubeconfig."""
    user = User(tmp_path_factory.mktemp("home"))
    config = written(user.home / "cluster.yaml", cluster(group("big-node", 4)))
    made = user("create", "cluster", f"--config={config}", "--set-context")
    assert made.code == 0, made.errors
    try:
        yield user
    finally:
        user("delete", "cluster", "kind-simulator")


@pytest.fixture
def kubectl(programs: Path, owner: User, tmp_path: Path) -> Kubectl:
    return Kubectl(programs / "kubectl", owner.home / ".kube" / "config", tmp_path)


@proves("VC-014", "VC-015", "VC-016", "VC-017")
def test_get_node_looks_as_in_the_seed(kubectl: Kubectl) -> None:
    """Columns, states and roles."""
    head, *rows = kubectl("get", "node").splitlines()
    assert head.split() == ["NAME", "STATUS", "ROLES", "AGE", "VERSION"]
    cells = {row.split()[0]: row.split()[1:] for row in rows}
    plane = cells.pop("kind-simulator-control-plane")
    assert plane[:2] == ["Ready,SchedulingDisabled", "master"]
    assert len(cells) == 4
    for name, (state, role, age, version) in cells.items():
        assert re.fullmatch(r"fake-big-node-[a-z0-9]{5}", name)
        assert (state, role) == ("Ready", "worker")
        assert re.fullmatch(r"\d+[smh]\w*", age)
        assert re.fullmatch(r"v1\.\d+\.\d+", version)


@proves("VC-019")
def test_describe_node_shows_what_was_declared(kubectl: Kubectl) -> None:
    """The strings 128, 256Gi and 110 in the order of the seed."""
    name = next(line for line in kubectl("get", "node", "-o", "name").split() if "fake-" in line)
    text = kubectl("describe", name)
    assert (
        "Capacity:\n  cpu:     128\n  memory:  256Gi\n  pods:    110\n"
        "Allocatable:\n  cpu:     128\n  memory:  256Gi\n  pods:    110\n"
    ) in text


@proves("VC-018")
def test_queues_and_jobs_are_served(kubectl: Kubectl) -> None:
    """Volcano is installed: its kinds have their names and columns, and its scheduler works."""
    names = [item["metadata"]["name"] for item in kubectl.json("get", "queues")["items"]]
    assert names == ["default", "root"]
    container = {"name": "main", "image": "busybox", "resources": {"requests": {"cpu": "1"}}}
    task = {"replicas": 2, "template": {"spec": {"containers": [container]}}}
    job = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "train"}}
    kubectl.create(job | {"spec": {"tasks": [task]}})
    kubectl("wait", "vcjob/train", "--for=jsonpath={.status.state.phase}=Running", "--timeout=50s")
    head, row = kubectl("get", "vcjob").splitlines()
    assert head.split() == ["NAME", "STATUS", "MINAVAILABLE", "RUNNINGS", "AGE"]
    assert row.split()[:4] == ["train", "Running", "2", "2"]
    kubectl("wait", "pg", "--all", "--for=jsonpath={.status.phase}=Running", "--timeout=50s")
