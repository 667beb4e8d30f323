"""Scenarios with Volcano: nodes, queues and jobs in a few words."""

from typing import Any

Document = dict[str, Any]


def node(name: str, cpu: str = "8", memory: str = "64Gi") -> Document:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name},
        "status": {"allocatable": {"cpu": cpu, "memory": memory, "pods": "110"}},
    }


def queue(name: str, **spec: Any) -> Document:
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        "metadata": {"name": name},
        "spec": {"weight": 1, **spec},
    }


def job(name: str, queue: str, pods: int = 4, cpu: str = "2", memory: str = "1Gi", seconds: int = 0) -> Document:
    """A gang; its pods end after some seconds, or never."""
    container = {"name": "main", "image": "x", "resources": {"requests": {"cpu": cpu, "memory": memory}}}
    template: Document = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    if seconds:
        duration = {"simulation.kube-scheduler-simulator.x-k8s.io/run-duration": f"{seconds}s"}
        template["metadata"] = {"annotations": duration}
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "minAvailable": pods,
            "queue": queue,
            "tasks": [{"name": "w", "replicas": pods, "template": template}],
        },
    }


def scenario(*steps: list[Document], name: str = "story", step: str = "") -> Document:
    """A scenario that creates the objects of each step in turn; `step` is how long one takes."""
    operations: list[Document] = [
        {"step": number, "createOperation": {"object": each}}
        for number, objects in enumerate(steps, 1)
        for each in objects
    ]
    operations.append({"step": len(steps) + 1, "doneOperation": {}})
    metadata: Document = {"name": name}
    if step:
        metadata["annotations"] = {"simulation.kube-scheduler-simulator.x-k8s.io/step-duration": step}
    return {
        "apiVersion": "simulation.kube-scheduler-simulator.x-k8s.io/v1alpha1",
        "kind": "Scenario",
        "metadata": metadata,
        "spec": {
            "controllers": {"simulationControllers": {"enabled": [{"name": "volcano"}]}},
            "operations": operations,
        },
    }
