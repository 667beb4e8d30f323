"""A real kube-controller-manager with all its controllers works on `seatrial serve --controllers node,pod`.

Ten minutes of real time: twice as long as heartbeats take, and many times as long as a node's grace period.
"""

import os
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.controllers.objects import RUN
from tests.outside.conftest import built
from tests.outside.processes import OF_THE_PROGRAMS, Kubectl, Serve, wait_until
from tests.outside.test_conformance import plain_node

SECONDS = float(os.environ.get("SEATRIAL_CONTROLLER_MANAGER_SECONDS", "600"))
EXPECTED_ERRORS = {
    r"is not as new as written version": "its cache is behind its own writes, as in every cluster",
    r"the object has been modified; please apply": "two of its workers wrote at once, as in every cluster",
    r"did not receive metrics for targeted pods": "pods are young; a metrics server has nothing on them either",
    r"The manifest file is empty": "no volume plugin is configured",
}
ENDS = {"annotations": {RUN: "5s"}}
Document = dict[str, object]


def template(app: str, **meta: object) -> Document:
    container = {
        "name": "c",
        "image": app,
        "ports": [{"containerPort": 80}],
        "resources": {"requests": {"cpu": "100m"}},
    }
    return {"metadata": {"labels": {"app": app}, **meta}, "spec": {"containers": [container]}}


def ending(app: str) -> Document:
    made = template(app, **ENDS)
    return {**made, "spec": {**made["spec"], "restartPolicy": "Never"}}  # type: ignore[dict-item]


def workloads() -> list[Document]:
    def of(api_version: str, kind: str, name: str, **spec: object) -> Document:
        return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "spec": spec}

    def selected(app: str) -> Document:
        return {"selector": {"matchLabels": {"app": app}}, "template": template(app)}

    cpu = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    return [
        of("apps/v1", "Deployment", "web", replicas=2, **selected("web")),
        of("v1", "Service", "web", selector={"app": "web"}, ports=[{"port": 80}]),
        of("apps/v1", "StatefulSet", "db", serviceName="db", replicas=2, **selected("db")),
        of("apps/v1", "DaemonSet", "agent", **selected("agent")),
        of("batch/v1", "Job", "once", completions=2, template=ending("once")),
        of("batch/v1", "CronJob", "often", schedule="* * * * *", jobTemplate={"spec": {"template": ending("often")}}),
        of(
            "autoscaling/v2",
            "HorizontalPodAutoscaler",
            "web",
            scaleTargetRef=target,
            minReplicas=2,
            maxReplicas=4,
            metrics=[{"type": "Resource", "resource": cpu}],
        ),
    ]


@pytest.fixture
def manager_log(tmp_path: Path) -> Path:
    return tmp_path / "kube-controller-manager.log"


@pytest.fixture
def kubectl(tmp_path: Path, manager_log: Path) -> Iterator[Kubectl]:
    """A server with three nodes, on which kube-controller-manager runs."""
    programs = built("kubectl", "kube-controller-manager")
    with Serve(tmp_path / "state", "--controllers", "node,pod", *OF_THE_PROGRAMS) as server:
        command = [str(programs / "kube-controller-manager"), "--kubeconfig", str(server.kubeconfig)]
        with manager_log.open("wb") as log:
            manager = subprocess.Popen([*command, "--leader-elect=false", "--secure-port=0"], stdout=log, stderr=log)
        try:
            made = Kubectl(programs / "kubectl", server.kubeconfig, tmp_path)
            made.create(*(plain_node(number) for number in range(1, 4)))
            yield made
        finally:
            manager.terminate()
            manager.wait(30)


@pytest.mark.long
def test_nodes_stay_ready_and_workloads_work(kubectl: Kubectl, manager_log: Path) -> None:
    end = time.monotonic() + SECONDS
    kubectl.apply(*workloads())

    def read(kind: str, name: str, path: str) -> str:
        return kubectl("get", kind, name, "-o", f"jsonpath={{{path}}}")

    wait_until(lambda: read("job", "once", ".status.succeeded") == "2", 120, "the Job is complete")
    wait_until(lambda: read("statefulset", "db", ".status.readyReplicas") == "2", 60, "the StatefulSet is ready")
    wait_until(lambda: read("daemonset", "agent", ".status.numberReady") == "3", 60, "the DaemonSet is ready")
    wait_until(lambda: read("deployment", "web", ".status.readyReplicas") == "4", 240, "the autoscaler scaled up")
    wait_until(lambda: read("cronjob", "often", ".status.lastSuccessfulTime") != "", 180, "the CronJob ran")

    def endpoints() -> int:
        slices = kubectl.json("get", "endpointslices", "-l", "kubernetes.io/service-name=web")["items"]
        return sum(endpoint["conditions"]["ready"] for found in slices for endpoint in found["endpoints"])

    wait_until(lambda: endpoints() == 4, 60, "the EndpointSlice has all pods")
    while time.monotonic() < end:
        for node in kubectl.json("get", "nodes")["items"]:
            ready = next(each for each in node["status"]["conditions"] if each["type"] == "Ready")
            assert ready["status"] == "True", ready
            assert "taints" not in node["spec"]
        time.sleep(5)
    assert unexpected_errors(manager_log) == []


def unexpected_errors(log: Path) -> list[str]:
    """The error lines of a log that a cluster of real programs would not have."""
    lines = [line for line in log.read_text().splitlines() if re.match(r"[EF]\d{4} ", line)]
    return [line for line in lines if not any(re.search(pattern, line) for pattern in EXPECTED_ERRORS)]
