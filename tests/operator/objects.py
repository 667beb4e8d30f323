"""Scenarios and SchedulerSimulations for tests."""

import json
from pathlib import Path
from typing import Any

from seatrial.scenario.spec.kind import API_VERSION


def node(name: str, cpu: str = "4") -> dict[str, Any]:
    resources = {"cpu": cpu, "memory": "8Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name},
        "status": {"allocatable": resources, "capacity": resources},
    }


def pod(name: str, cpu: str = "1") -> dict[str, Any]:
    container = {"name": "main", "image": "app", "resources": {"requests": {"cpu": cpu}}}
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container]}}


def scenario(name: str = "small", pods: int = 2, *, done: bool = True) -> dict[str, Any]:
    """Two nodes, then pods, then Done."""
    made = [(1, node("node-1")), (1, node("node-2")), *((2, pod(f"pod-{number}")) for number in range(pods))]
    operations = [{"step": step, "createOperation": {"object": document}} for step, document in made]
    if done:
        operations.append({"step": 3, "doneOperation": {}})
    controllers = {"simulationControllers": {"enabled": [{"name": "scheduler"}]}}
    return {
        "apiVersion": API_VERSION,
        "kind": "Scenario",
        "metadata": {"name": name},
        "spec": {"controllers": controllers, "operations": operations},
    }


def write_scenario(directory: Path, name: str = "small", **options: Any) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "scenario.json"
    path.write_text(json.dumps(scenario(name, **options)))
    return path


def simulation(name: str, directory: Path | None, **spec: Any) -> dict[str, Any]:
    """A SchedulerSimulation whose files are in a directory of the host; `simulator` adds to its simulatorSpec."""
    volume = {"name": "files", "hostPath": {"path": str(directory)}} if directory is not None else {}
    return {
        "apiVersion": API_VERSION,
        "kind": "SchedulerSimulation",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "simulatorSpec": spec.pop("simulator", {}),
            "scenarioTemplateFilePath": "/mnt/scenario.json",
            "scenarioResultFilePath": "/mnt/result.json",
            **({"volume": volume} if volume else {}),
            **spec,
        },
    }


def simulator(name: str, **spec: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": API_VERSION, "kind": "Simulator", "metadata": metadata, "spec": spec}
