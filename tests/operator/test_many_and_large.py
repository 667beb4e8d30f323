"""Many simulations at once, and files that no API server would take."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.operator.conftest import World
from tests.operator.objects import scenario, simulation, write_scenario
from tests.proofs import proves

MANY = 20
LARGE = 100 * 1024 * 1024
SMALL = 32 * 1024
"""Bytes that an object in the user's cluster may have at most, managed fields and all."""


@pytest.mark.long
def test_twenty_simulations_at_once_all_complete(world: World) -> None:
    for number in range(MANY):
        write_scenario(world.directory / f"many-{number}", f"scenario-{number}")
    for number in range(MANY):
        world.cluster.create(simulation(f"many-{number}", world.directory / f"many-{number}"))
    for number in range(MANY):
        status = world.cluster.ended(f"many-{number}", seconds=400)
        assert status["phase"] == "Completed", status
        result = json.loads((world.directory / f"many-{number}" / "result.json").read_bytes())
        assert result["metadata"]["name"] == f"scenario-{number}"
    assert sorted(world.kubelet.started) == sorted(f"many-{number}" for number in range(MANY))


def write_large_scenario(path: Path) -> None:
    """A scenario of more than 100 MiB: many ConfigMaps beside the nodes and pods."""
    document = scenario("large")
    text = "x" * 1_000_000
    for number in range(LARGE // len(text) + 1):
        metadata = {"name": f"map-{number}", "namespace": "default"}
        made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"text": text}}
        document["spec"]["operations"].insert(0, {"step": 1, "createOperation": {"object": made}})
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(document))
    assert path.stat().st_size > LARGE


def largest(cluster: Any) -> int:
    paths = ("schedulersimulations", "simulators", "pods", "services", "events")
    group = "/apis/simulation.kube-scheduler-simulator.x-k8s.io/v1alpha1"
    sizes = [0]
    for plural in paths:
        root = group if "simula" in plural else "/api/v1"
        sizes += [len(json.dumps(each)) for each in cluster.get(f"{root}/{plural}")["items"]]
    return max(sizes)


@proves("S-035")
@pytest.mark.long
def test_files_of_a_hundred_mebibytes_stay_out_of_the_users_cluster(world: World) -> None:
    """In and out by file, while every object of the user's cluster stays small."""
    directory = world.directory / "large"
    write_large_scenario(directory / "scenario.json")
    world.cluster.create(simulation("large", directory))
    sizes = []

    def has_ended() -> bool:
        sizes.append(largest(world.cluster))
        return bool((world.cluster.simulation("large").get("status") or {}).get("phase"))

    world.cluster.wait_for(has_ended, "the simulation has ended", 500)
    assert world.cluster.ended("large")["phase"] == "Completed"
    assert (directory / "result.json").stat().st_size > LARGE
    assert max(sizes) < SMALL
