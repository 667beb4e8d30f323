"""The scenarios whose whole runs `seatrial bench ratios` compares."""

from pathlib import Path
from typing import Any

from seatrial.bench.scenario import ROOM, pod, write_scenario
from seatrial.model.documents import encode

HEAD = {"apiVersion": "simulation.kube-scheduler-simulator.x-k8s.io/v1alpha1", "kind": "Scenario"}


def waves(path: Path, nodes: int, pods: int, steps: int) -> Path:
    """Waves of pods that wait one step for their nodes."""
    write_scenario(path, nodes, pods, steps)
    return path


def one_job(path: Path, pods: int) -> Path:
    """One Job whose pods all run at once."""
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1m"}}}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "many", "namespace": "default"},
        "spec": {"completions": pods, "parallelism": pods, "template": template},
    }
    nodes = (node(number) for number in range(1 + pods // 100))
    return _written(path, [*(_create(1, each) for each in nodes), _create(2, job), _done(3)])


def pending(path: Path, pods: int, steps: int) -> Path:
    """Pods that no node takes, for many steps in each of which a node changes."""
    found = [_create(1, node(number)) for number in range(100)]
    found += [_create(1, pod(f"pod-{number:05}", 0)) for number in range(pods)]
    found += [_create(step, node(100 + step)) for step in range(2, steps + 1)]
    return _written(path, [*found, _done(steps)])


def gangs(folder: Path, nodes: int, jobs: int, size: int) -> tuple[Path, Path]:
    """A test of vcsimctl that creates Jobs of so many pods each within a second, and its cluster."""
    container = {"name": "main", "image": "busybox", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}
    task = {"name": "work", "replicas": size, "template": {"spec": {"containers": [container]}}}
    job = {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": "job"},
        "spec": {"minAvailable": size, "tasks": [task]},
    }
    load = {
        "namespaces": 1,
        "replicasPerNamespace": jobs,
        "timing": {"qps": jobs, "duration": 1},
        "objects": [{"name": "job", "objectPath": "job.yaml"}],
    }
    groups = [{"name": "node", "count": nodes, "capacity": {"cpu": "32", "memory": "256Gi", "pods": "110"}}]
    head = {"apiVersion": "scheduling.volcano.sh/v1beta1", "metadata": {"name": "bench"}}
    (folder / "job.yaml").write_bytes(encode(job))  # JSON is YAML as well
    test, cluster = folder / "test.yaml", folder / "cluster.yaml"
    test.write_bytes(encode({**head, "kind": "SimulatorJob", "spec": load}))
    cluster.write_bytes(encode({**head, "kind": "SimulatorCluster", "spec": {"nodes": groups}}))
    return test, cluster


def node(number: int) -> dict[str, Any]:
    name = f"node-{number:05}"
    meta = {"name": name, "labels": {"kubernetes.io/hostname": name}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": meta, "status": {"capacity": ROOM, "allocatable": ROOM}}


def _create(step: int, document: dict[str, Any]) -> dict[str, Any]:
    return {"step": step, "createOperation": {"object": document}}


def _done(step: int) -> dict[str, Any]:
    return {"step": step, "doneOperation": {}}


def _written(path: Path, operations: list[dict[str, Any]]) -> Path:
    spec = {
        "controllers": {"simulationControllers": {"enabled": [{"name": "scheduler"}]}},
        "operations": operations,
    }
    path.write_bytes(encode({**HEAD, "metadata": {"name": path.stem}, "spec": spec}))
    return path
