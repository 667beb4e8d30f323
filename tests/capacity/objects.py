"""Builders for the clusters and scenarios of capacity questions."""

from typing import Any

from seatrial.capacity.trial import Setting
from seatrial.scenario.options import SimulationOptions


def node(name: str = "node", cpu: str = "4", memory: str = "8Gi", pods: str = "110", **spec: Any) -> dict[str, Any]:
    room = {"cpu": cpu, "memory": memory, "pods": pods}
    metadata = {"name": name, "labels": {"kubernetes.io/hostname": name}}
    status = {"capacity": room, "allocatable": room}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec, "status": status}


def pod(name: str = "web", cpu: str = "1", memory: str = "1Gi", **spec: Any) -> dict[str, Any]:
    container = {"name": "app", "image": "example.com/app", "resources": {"requests": {"cpu": cpu, "memory": memory}}}
    metadata = {"name": name, "namespace": "default", "labels": {"app": name}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container], **spec}}


def scenario(*objects: dict[str, Any], **operations: Any) -> dict[str, Any]:
    """A Scenario that creates objects in its first step."""
    return {
        "apiVersion": "simulation.kube-scheduler-simulator.x-k8s.io/v1alpha1",
        "kind": "Scenario",
        "metadata": {"name": "small"},
        "spec": {
            "controllers": {"simulationControllers": {"enabled": [{"name": "scheduler"}]}},
            "operations": [
                *({"step": 1, "createOperation": {"object": each}} for each in objects),
                *({"step": 2, name: operation} for name, operation in operations.items()),
                {"step": 3, "doneOperation": {}},
            ],
        },
    }


def setting(*snapshot: dict[str, Any], scenario: dict[str, Any] | None = None) -> Setting:
    return Setting(SimulationOptions(level="none", snapshot=snapshot), scenario)


def spread(key: str = "kubernetes.io/hostname", app: str = "web") -> dict[str, Any]:
    """A constraint by which no node may have two pods more than another one."""
    selector = {"matchLabels": {"app": app}}
    constraint = {
        "maxSkew": 1,
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": selector,
    }
    return {"topologySpreadConstraints": [constraint]}
