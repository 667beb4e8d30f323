"""Files of a user of vcsimctl."""

from pathlib import Path
from typing import Any

import yaml

from seatrial.model.documents import Document

API_VERSION = "scheduling.volcano.sh/v1beta1"
AMOUNTS = {"cpu": "128", "memory": "256Gi", "pods": "110"}


def group(name: str = "big-node", count: int = 3, **fields: Any) -> Document:
    return {"name": name, "count": count, "capacity": AMOUNTS, "allocatable": AMOUNTS, **fields}


def cluster(*groups: Document, name: str = "kind-simulator", **fields: Any) -> Document:
    document = {"apiVersion": API_VERSION, "kind": "SimulatorCluster", "metadata": {"name": name}}
    return document | {"spec": {"nodes": list(groups) or [group()]}} | fields


def simulator_job(path: str = "deployment.yaml", **spec: Any) -> Document:
    """A test of one object file."""
    return {
        "apiVersion": API_VERSION,
        "kind": "SimulatorJob",
        "metadata": {"name": "scheduling-throughput"},
        "spec": {
            "namespaces": 1,
            "replicasPerNamespace": 2,
            "timing": {"qps": 100, "duration": 60},
            "objects": [{"name": "test-pod", "objectPath": path}],
            **spec,
        },
    }


def pod_template(cpu: str = "100m", scheduler: str = "volcano") -> Document:
    container = {"name": "main", "image": "nginx", "resources": {"requests": {"cpu": cpu}}}
    return {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"schedulerName": scheduler, "containers": [container]},
    }


def deployment(replicas: int = 2, **template: Any) -> Document:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": pod_template(**template),
        },
    }


def daemon_set(cpu: str = "100m", scheduler: str = "volcano") -> Document:
    template = pod_template(cpu, scheduler)
    template["metadata"]["labels"] = {"app": "agent"}
    spec = {"selector": {"matchLabels": {"app": "agent"}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent"}, "spec": spec}


def vcjob(name: str = "train", replicas: int = 2, cpu: str = "100m", **spec: Any) -> Document:
    task = {"name": "work", "replicas": replicas, "template": pod_template(cpu)}
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {"tasks": [task], **spec},
    }


def written(path: Path, *documents: Document) -> Path:
    path.write_text(yaml.safe_dump_all(documents))
    return path
