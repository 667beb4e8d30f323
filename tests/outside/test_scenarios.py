"""Every example through kubectl: created on a server, read back, and equal to what `seatrial run` writes."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.examples.playing import Example, assert_equal, examples
from tests.outside.processes import Kubectl, Serve, wait_until
from tests.proofs import proves

ALL = list(examples())
SECONDS = 300


def read(kubectl: Kubectl, name: str) -> dict[str, Any]:
    """A Scenario that has come to rest."""
    phase = ("get", "scenario", name, "-o", "jsonpath={.status.phase}")
    wait_until(lambda: kubectl(*phase) in ("Succeeded", "Failed", "Paused"), SECONDS, f"{name} rests")
    scenario: dict[str, Any] = kubectl.json("get", "scenario", name)
    return scenario


@contextmanager
def created(example: Example, programs: Path, directory: Path) -> Iterator[Kubectl]:
    """A server as the example's command wants it, on which kubectl has created the example."""
    with Serve(directory / "state", *example.flags) as server:
        kubectl = Kubectl(programs / "kubectl", server.kubeconfig, directory)
        kubectl("create", "-f", "-", stdin=example.text())
        yield kubectl


@proves("V1-001", "V1-005")
@pytest.mark.parametrize("example", ALL, ids=lambda example: example.name)
def test_an_example_gives_through_kubectl_what_a_run_gives(example: Example, programs: Path, tmp_path: Path) -> None:
    with created(example, programs, tmp_path) as kubectl:
        served = read(kubectl, example.folder.name)
    assert_equal(served, example.run(tmp_path / "out"))


@proves("V1-092", "V1-111", "V2-004")
@pytest.mark.parametrize("example", [e for e in ALL if e.driven], ids=lambda example: example.name)
def test_operations_added_through_kubectl_give_what_the_driver_gives(
    example: Example, programs: Path, tmp_path: Path
) -> None:
    driven = example.drive(tmp_path / "out")
    with created(example, programs, tmp_path) as kubectl:
        name = example.folder.name
        paused = read(kubectl, name)
        assert paused["status"]["phase"] == "Paused"
        added = driven["spec"]["operations"][len(paused["spec"]["operations"]) :]
        patch = [{"op": "add", "path": "/spec/operations/-", "value": operation} for operation in added]
        kubectl("patch", "scenario", name, "--type=json", "-p", json.dumps(patch))
        wait_until(lambda: kubectl.json("get", "scenario", name)["status"]["phase"] == "Succeeded", 30, "it goes on")
        served = kubectl.json("get", "scenario", name)
    assert_equal(served, driven)


@proves("V1-007", "V2-032")
def test_kubectl_explains_the_status_of_a_scenario(programs: Path, tmp_path: Path) -> None:
    with Serve(tmp_path / "state") as server:
        kubectl = Kubectl(programs / "kubectl", server.kubeconfig, tmp_path)
        explained = kubectl("explain", "scenario.status.stepStatus")
    assert "runningSimulationController" in explained
    assert "enum: OperatingEvents" in explained
    assert "The current step." in explained


@proves("V2-018")
def test_kubectl_applies_operations_without_ids_on_the_server(programs: Path, tmp_path: Path) -> None:
    def applied(*operations: dict[str, Any]) -> str:
        spec = {
            "controllers": {"simulationControllers": {"enabled": [{"name": "scheduler"}]}},
            "operations": list(operations),
        }
        version = "simulation.kube-scheduler-simulator.x-k8s.io/v1alpha1"
        return json.dumps({"apiVersion": version, "kind": "Scenario", "metadata": {"name": "play"}, "spec": spec})

    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "sea"}}
    first = {"step": 1, "createOperation": {"object": namespace}}
    done = {"step": 2, "doneOperation": {}}
    with Serve(tmp_path / "state") as server:
        kubectl = Kubectl(programs / "kubectl", server.kubeconfig, tmp_path)
        kubectl("apply", "--server-side", "-f", "-", stdin=applied(first))
        assert read(kubectl, "play")["status"]["phase"] == "Paused"
        kubectl("apply", "--server-side", "-f", "-", stdin=applied(done, first))
        wait_until(lambda: kubectl.json("get", "scenario", "play")["status"]["phase"] == "Succeeded", 30, "it goes on")
        assert [each["id"] for each in kubectl.json("get", "scenario", "play")["spec"]["operations"]] == [
            "op-2",
            "op-1",
        ]
        assert kubectl("get", "scenario", "play", "--no-headers").split()[:3] == ["play", "Succeeded", "2.0"]
