"""Whole runs with and without creation templates: the same bytes in every output file."""

from pathlib import Path
from typing import Any

import pytest

from seatrial.store.registry.templates import VARIABLE
from tests.scenario.playing import create, delete, done, operations, patch
from tests.scenario.running import Run, node, pod

CONTROLLERS = ("deployment", "replicaset", "statefulset", "daemonset", "job", "garbagecollector", "pod", "node")
ZONE = "topology.kubernetes.io/zone"


def workload(kind: str, name: str, **spec: Any) -> dict[str, Any]:
    labels = {"app": name}
    is_job = kind == "Job"
    template = {
        "metadata": {"labels": labels},
        "spec": pod("x", "100m", **({"restartPolicy": "Never"} if is_job else {}))["spec"],
    }
    selector = {} if is_job else {"selector": {"matchLabels": labels}}
    return {
        "apiVersion": "batch/v1" if is_job else "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": "default"},
        "spec": {**selector, "template": template, **spec},
    }


def cluster(*, zones: bool) -> dict[str, Any]:
    """Every kind of owner, pods that wait for room, a gated pod, a victim, and pods that change afterwards."""
    nodes = [node(f"n{i}", "4", "30", **({ZONE: f"z{i % 2}"} if zones else {})) for i in range(6)]
    web = workload("Deployment", "web", replicas=8)
    wide = [pod(f"wide-{i}", "3") for i in range(8)]
    for place, each in enumerate(wide):
        each["metadata"]["labels"] = {"app": "wide", "index": str(place)}
    gated = pod("gated", schedulingGates=[{"name": "example.com/wait"}])
    urgent = [pod(f"urgent-{i}", "3", priorityClassName="system-cluster-critical") for i in range(4)]
    return operations(
        *(create(1, each) for each in nodes),
        create(2, web),
        create(2, workload("StatefulSet", "db", replicas=4, serviceName="db")),
        create(2, workload("DaemonSet", "agent")),
        create(2, workload("Job", "batch", completions=6, parallelism=3)),
        create(2, workload("Job", "indexed", completions=5, parallelism=5, completionMode="Indexed")),
        *(create(3, each) for each in wide),
        create(3, gated),
        patch(4, gated, {"spec": {"schedulingGates": None}}),
        patch(4, wide[0], {"metadata": {"labels": {"app": "other"}}}),
        *(create(5, each) for each in urgent),
        patch(6, web, {"spec": {"template": {"metadata": {"annotations": {"v": "2"}}}}}),
        delete(7, wide[1]),
        delete(7, nodes[5]),
        done(8),
    )


@pytest.mark.parametrize("zones", [False, True])
@pytest.mark.parametrize("record", ["full", "summary"])
def test_a_run_is_the_same_with_and_without_templates(
    zones: bool, record: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Run(cluster(zones=zones), record=record)  # the first run of a process renders the stages
    for setting in ("off", "on"):
        monkeypatch.setenv(VARIABLE, setting)
        run = Run(cluster(zones=zones), record=record)
        run.result.save(tmp_path / setting)
        used = run.simulation.scenario_run.store.templates.used
        assert bool(used) == (setting == "on"), used
    for name in ("result.json", "timeline.parquet"):
        assert (tmp_path / "on" / name).read_bytes() == (tmp_path / "off" / name).read_bytes()
