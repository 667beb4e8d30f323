"""Builders for the files of a sweep, and an engine that runs its points in this process."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

from seatrial.sweeps.bundle import Bundle
from seatrial.sweeps.points import Point
from seatrial.sweeps.worker import Outcome, Worker

NODES = "spec.generators[id=node].count"


def scenario(nodes: int = 2, pods: int = 4) -> dict[str, Any]:
    """Pods of one CPU on nodes of four."""
    capacity = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    container = {"name": "app", "image": "example.com/app", "resources": {"requests": {"cpu": "1"}}}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-${index}"}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod-${index}", "namespace": "default"}}
    return {
        "apiVersion": "simulation.kube-scheduler-simulator.x-k8s.io/v1alpha1",
        "kind": "Scenario",
        "metadata": {"name": "small"},
        "spec": {
            "controllers": {"simulationControllers": {"enabled": [{"name": "scheduler"}]}},
            "operations": [{"step": 3, "doneOperation": {}}],
            "generators": [
                generator("node", 1, nodes, node | {"status": {"capacity": capacity, "allocatable": capacity}}),
                generator("pod", 2, pods, pod | {"spec": {"containers": [container]}}),
            ],
        },
    }


def generator(id: str, step: int, count: int, object: dict[str, Any]) -> dict[str, Any]:
    return {"id": id, "step": step, "count": count, "createOperation": {"object": object}}


def axis(name: str, values: list[Any], **path: str) -> dict[str, Any]:
    return {"name": name, "values": values, **(path or {"scenario": NODES})}


def write_sweep(folder: Path, **fields: Any) -> Path:
    """A sweep over the small scenario."""
    (folder / "scenario.yaml").write_text(yaml.safe_dump(scenario()))
    path = folder / "sweep.yaml"
    path.write_text(yaml.safe_dump({"scenarios": ["scenario.yaml"], **fields}))
    return path


class InlineEngine:
    """Points in this process, one after another."""

    def __init__(self, bundle: Bundle) -> None:
        self._worker = Worker(bundle)
        self.ran: list[int] = []

    def outcomes(self, points: Iterable[Point]) -> Iterator[Outcome]:
        for point in points:
            self.ran.append(point.number)
            yield self._worker.run(point)

    def close(self) -> None:
        """Nothing to end."""
