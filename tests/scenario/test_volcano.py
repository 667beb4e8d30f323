"""Volcano as a simulated controller of a scenario."""

from typing import Any

from seatrial.scenario.engine.controller_registry import Registry
from seatrial.scenario.options import SimulationOptions
from tests.scenario.playing import Stage, create, done, node, operations


def gang(name: str, size: int, cpu: str = "1") -> dict[str, Any]:
    container = {"name": "main", "image": "busybox", "resources": {"requests": {"cpu": cpu, "memory": "1Gi"}}}
    worker = {"name": "worker", "replicas": size, "template": {"spec": {"containers": [container]}}}
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"minAvailable": size, "tasks": [worker]},
    }


def machine(name: str, cpu: str = "4") -> dict[str, Any]:
    document = node(name)
    document["status"] = {"allocatable": {"cpu": cpu, "memory": "16Gi", "pods": "110"}}
    return document


def volcano(*listed: dict[str, Any], **annotations: str) -> Stage:
    spec = operations(*listed)
    spec["controllers"] = {"simulationControllers": {"enabled": [{"name": "volcano"}]}}
    return Stage(spec, SimulationOptions(registry=Registry()), annotations)


def test_a_gang_is_bound_in_one_loop() -> None:
    stage = volcano(create(1, machine("n1")), create(1, gang("train", 3)), done(2))
    status = stage.run()
    assert status["phase"] == "Succeeded"
    bound = [entry for entry in status["scenarioResult"]["timeline"]["1"] if "podScheduled" in entry]
    assert len(bound) == 3
    assert len({(entry["step"]["major"], entry["step"]["minor"]) for entry in bound}) == 1


def test_the_message_says_which_plugin_and_queue_keep_a_job_waiting() -> None:
    stage = volcano(create(1, machine("n1")), create(1, gang("train", 3)), create(2, gang("late", 3)), done(3))
    message = stage.run()["message"]
    assert "of queue default is not let in by plugin overcommit" in message


def test_two_runs_of_one_scenario_are_equal() -> None:
    listed = create(1, machine("n1")), create(1, machine("n2")), create(2, gang("train", 5)), done(3)
    assert volcano(*listed).run() == volcano(*listed).run()


def test_without_volcano_its_kinds_are_not_served() -> None:
    spec = operations(create(1, gang("train", 1)), done(2))
    spec["controllers"] = {"simulationControllers": {"enabled": [{"name": "scheduler"}]}}
    assert Stage(spec).run()["phase"] == "Failed"
