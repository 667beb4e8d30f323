"""The tests of the definitions once more, against the real kube-apiserver."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from seatrial.operator.deployment_manifests import manifests
from seatrial.operator.kinds import IMAGE, definitions
from tests.operator.cluster import Cluster
from tests.operator.kubelet import SEATRIAL
from tests.operator.test_kinds import (  # noqa: F401
    SIMULATIONS,
    SIMULATORS,
    created,
    test_a_simulator_can_be_updated,
    test_an_inline_scenario_is_an_unknown_field,
    test_bad_values_are_refused,
    test_images_and_ports_have_defaults,
    test_kubectl_prints_the_phase,
    test_metadata_can_be_updated,
    test_neither_can_what_is_inside,
    test_no_field_of_a_simulation_can_be_updated,
    test_simulations_are_namespaced,
    test_the_phase_is_written_through_the_status_subresource,
)
from tests.outside.processes import Kubectl
from tests.outside.real_apiserver import RealApiserver, Reply
from tests.outside.real_cluster import real_cluster
from tests.scripts import SCRIPTS


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RealApiserver, Cluster]]:
    with real_cluster(tmp_path_factory.mktemp("real")) as made:
        yield made


class Admin:
    """Requests to the real server in the form of those to the application in this process."""

    def __init__(self, apiserver: RealApiserver) -> None:
        self._apiserver = apiserver

    def __call__(self, method: str, path: str, body: Any = None, **headers: str) -> Reply:
        return self._apiserver.request(method, path, body, {key.title(): value for key, value in headers.items()})


@pytest.fixture
def server(real: tuple[RealApiserver, Cluster]) -> Iterator[Admin]:
    admin = Admin(real[0])
    yield admin
    for path in (f"{SIMULATIONS}/one", f"{SIMULATORS}/one"):
        admin("DELETE", path)


def test_the_definitions_are_accepted_as_they_are(real: tuple[RealApiserver, Cluster]) -> None:
    """No field is dropped, and the cost of the rules is within the limits."""
    for definition in definitions():
        path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{definition['metadata']['name']}"
        conditions = {each["type"]: each["status"] for each in real[1].get(path)["status"]["conditions"]}
        assert conditions["Established"] == "True"
        assert conditions.get("NonStructuralSchema", "False") == "False"


def test_kubectl_applies_the_manifests(real: tuple[RealApiserver, Cluster], programs: Path, tmp_path: Path) -> None:
    """As the documentation says it, twice: the second time changes nothing."""
    kubectl = Kubectl(programs / "kubectl", real[1].kubeconfig, tmp_path)
    text = subprocess.run([*SEATRIAL, "operator", "manifests"], capture_output=True, text=True, check=True).stdout
    kubectl("apply", "-f", "-", stdin=text)
    again = kubectl("apply", "-f", "-", stdin=text).splitlines()
    assert len(again) == 7
    assert all(line.endswith(" unchanged") for line in again), again


def test_kubectl_builds_the_kustomization(programs: Path) -> None:
    done = subprocess.run(
        [str(programs / "kubectl"), "kustomize", str(SCRIPTS.parent / "deploy" / "kustomize")],
        capture_output=True,
        text=True,
        check=True,
    )
    built = {(each["kind"], each["metadata"]["name"]): each for each in yaml.safe_load_all(done.stdout)}
    assert built == {(each["kind"], each["metadata"]["name"]): each for each in manifests(IMAGE, "seatrial-system")}
