"""A user's cluster with the operator and a kubelet, shared by the tests of one module."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.operator.cluster import Cluster, seatrial_cluster
from tests.operator.kubelet import Kubelet
from tests.operator.processes import OperatorProcess


@dataclass(frozen=True)
class World:
    """Everything that a flow needs."""

    cluster: Cluster
    kubelet: Kubelet
    operator: OperatorProcess
    directory: Path


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    directory = tmp_path_factory.mktemp("world")
    with (
        seatrial_cluster(directory) as cluster,
        Kubelet(cluster, directory / "pods") as kubelet,
        OperatorProcess(cluster.kubeconfig, directory / "operator.log") as operator,
    ):
        yield World(cluster, kubelet, operator, directory)
