"""kubectl v1.36 on `seatrial serve`: every command people use."""

import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from seatrial.scheduler.versions import DEFAULT
from tests.controllers.objects import stage
from tests.outside.objects import deployment, node, pod
from tests.outside.processes import Kubectl, Serve, wait_until


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """One server with its controllers for all scripts; each works in a namespace or with names of its own."""
    with Serve(tmp_path_factory.mktemp("state")) as server:
        yield server


@pytest.fixture
def kubectl(programs: Path, cluster: Serve, tmp_path: Path) -> Kubectl:
    return Kubectl(programs / "kubectl", cluster.kubeconfig, tmp_path)


def test_version(kubectl: Kubectl) -> None:
    assert kubectl.json("version")["serverVersion"]["gitVersion"].startswith(f"{DEFAULT.release}+seatrial-")


def test_get_prints_what_people_know(kubectl: Kubectl) -> None:
    kubectl.create(node("get-node"), pod("get-pod", nodeName="get-node"))
    head, *rows = kubectl("get", "pods").splitlines()
    assert head.split() == ["NAME", "READY", "STATUS", "RESTARTS", "AGE"]
    assert any(row.startswith("get-pod") for row in rows)
    assert "NOMINATED NODE" in kubectl("get", "pods", "-o", "wide")
    assert "kind: Pod" in kubectl("get", "pod", "get-pod", "-o", "yaml")
    assert kubectl("get", "pod", "get-pod", "-o", "jsonpath={.spec.nodeName}") == "get-node"
    assert kubectl("get", "pods", "-l", "app=test", "-o", "name").split()
    assert "get-node" in kubectl("get", "nodes", "-o", "wide")
    assert kubectl("get", "all", "-A")


def test_get_watches(kubectl: Kubectl) -> None:
    command = kubectl.command("get", "configmaps", "-n", "default", "-w", "-o", "name")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as watching:
        assert watching.stdout is not None
        time.sleep(1)
        kubectl("create", "configmap", "seen")
        try:
            assert any(line.strip() == "configmap/seen" for line in iter(watching.stdout.readline, ""))
        finally:
            watching.terminate()


def test_describe(kubectl: Kubectl) -> None:
    kubectl.create(node("described"), pod("described", nodeName="described"))
    text = kubectl("describe", "pod", "described")
    assert "Node:" in text and "Containers:" in text
    assert "Allocatable:" in kubectl("describe", "node", "described")
    kubectl.create(deployment("described"))
    assert "StrategyType:" in kubectl("describe", "deployment", "described")


def test_explain(kubectl: Kubectl) -> None:
    assert "containers" in kubectl("explain", "pod.spec")
    assert "<integer>" in kubectl("explain", "deployment.spec.replicas")
    assert "FIELDS" in kubectl("explain", "pods", "--recursive")


def test_api_resources_and_versions(kubectl: Kubectl) -> None:
    assert "deployments" in kubectl("api-resources")
    assert "resource.k8s.io/v1" in kubectl("api-versions")


def test_apply_twice_and_diff(kubectl: Kubectl) -> None:
    document = deployment("applied")
    text = json.dumps(document)
    assert "created" in kubectl("apply", "-f", "-", stdin=text)
    assert "unchanged" in kubectl("apply", "-f", "-", stdin=text)
    document["spec"]["replicas"] = 5
    changed = kubectl.run("diff", "-f", "-", stdin=json.dumps(document))
    assert changed.returncode == 1, changed.stderr
    assert "+  replicas: 5" in changed.stdout
    assert "configured" in kubectl("apply", "-f", "-", stdin=json.dumps(document))
    assert kubectl.json("get", "deployment", "applied")["spec"]["replicas"] == 5


def test_apply_on_the_server_side_finds_conflicts(kubectl: Kubectl) -> None:
    document = deployment("owned")
    kubectl("apply", "--server-side", "-f", "-", stdin=json.dumps(document))
    document["spec"]["replicas"] = 3
    text = json.dumps(document)
    refused = kubectl.run("apply", "--server-side", "--field-manager=other", "-f", "-", stdin=text)
    assert refused.returncode != 0
    assert "conflict" in refused.stderr
    kubectl("apply", "--server-side", "--field-manager=other", "--force-conflicts", "-f", "-", stdin=text)
    managers = {entry["manager"] for entry in _managed(kubectl, "deployment", "owned")}
    assert {"kubectl", "other"} <= managers


def _managed(kubectl: Kubectl, *what: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = kubectl.json("get", *what, "--show-managed-fields")["metadata"]["managedFields"]
    return entries


def test_deployment_is_made_rolled_out_and_scaled(kubectl: Kubectl) -> None:
    kubectl.create(node("roomy", cpu="64"))
    kubectl("create", "deployment", "web", "--image=example.com/web", "--replicas=3")
    kubectl("rollout", "status", "deployment/web", "--timeout=30s")
    kubectl("wait", "--for=condition=Available", "deployment/web", "--timeout=30s")
    kubectl("scale", "deployment/web", "--replicas=5")
    kubectl("rollout", "status", "deployment/web", "--timeout=30s")
    assert kubectl.json("get", "deployment", "web")["status"]["readyReplicas"] == 5
    kubectl("set", "image", "deployment/web", "web=example.com/web:2")
    kubectl("rollout", "status", "deployment/web", "--timeout=30s")
    assert "2" in kubectl("rollout", "history", "deployment/web")
    kubectl("rollout", "undo", "deployment/web")
    kubectl("delete", "deployment", "web", "--wait")
    wait_until(lambda: not kubectl("get", "pods", "-l", "app=web", "-o", "name"), 30, "its pods are gone")


def test_cordon_drain_and_uncordon(kubectl: Kubectl) -> None:
    kubectl.create(node("drained"))
    kubectl.create(pod("passenger", nodeName="drained"))
    kubectl("cordon", "drained")
    assert "SchedulingDisabled" in kubectl("get", "node", "drained")
    kubectl("drain", "drained", "--force", "--grace-period=0", "--timeout=30s")
    assert kubectl.run("get", "pod", "passenger").returncode == 1
    kubectl("uncordon", "drained")
    assert "SchedulingDisabled" not in kubectl("get", "node", "drained")


def test_taint_label_and_annotate(kubectl: Kubectl) -> None:
    kubectl.create(node("marked"))
    kubectl("taint", "node", "marked", "spot=true:NoSchedule")
    kubectl("label", "node", "marked", "zone=a")
    kubectl("annotate", "node", "marked", "note=here")
    document = kubectl.json("get", "node", "marked")
    assert {"key": "spot", "value": "true", "effect": "NoSchedule"} in document["spec"]["taints"]
    assert document["metadata"]["labels"]["zone"] == "a"
    assert document["metadata"]["annotations"]["note"] == "here"
    kubectl("taint", "node", "marked", "spot-")
    kubectl("label", "node", "marked", "zone-")
    assert "zone" not in kubectl.json("get", "node", "marked")["metadata"]["labels"]


@pytest.mark.parametrize(
    ("type", "patch"),
    [
        ("merge", {"data": {"b": "2"}}),
        ("strategic", {"data": {"b": "2"}}),
        ("json", [{"op": "add", "path": "/data/b", "value": "2"}]),
    ],
)
def test_patch(kubectl: Kubectl, type: str, patch: object) -> None:
    kubectl("create", "configmap", f"patched-{type}", "--from-literal=a=1")
    kubectl("patch", "configmap", f"patched-{type}", "--type", type, "-p", json.dumps(patch))
    assert kubectl.json("get", "configmap", f"patched-{type}")["data"] == {"a": "1", "b": "2"}


def test_patch_of_a_subresource(kubectl: Kubectl) -> None:
    kubectl.create(node("ill"))
    conditions = [{"type": "DiskPressure", "status": "True"}]
    patch = json.dumps({"status": {"conditions": conditions}})
    kubectl("patch", "node", "ill", "--subresource=status", "--type=strategic", "-p", patch)
    types = {c["type"] for c in kubectl.json("get", "node", "ill")["status"]["conditions"]}
    assert types == {"Ready", "DiskPressure"}


def test_delete_by_selector_and_wait(kubectl: Kubectl) -> None:
    kubectl("create", "configmap", "gone")
    kubectl("label", "configmap", "gone", "sweep=yes")
    kubectl("delete", "configmap", "-l", "sweep=yes", "--wait")
    assert kubectl.run("get", "configmap", "gone").returncode == 1
    kubectl("create", "namespace", "passing")
    kubectl("create", "configmap", "inside", "-n", "passing")
    kubectl("delete", "namespace", "passing", "--wait", "--timeout=30s")


def test_auth(kubectl: Kubectl) -> None:
    assert kubectl("auth", "can-i", "create", "pods").strip() == "yes"
    assert "kubernetes-admin" in kubectl("auth", "whoami")


def test_events_logs_and_top(kubectl: Kubectl) -> None:
    kubectl.create(node("metered"), pod("quiet"))
    assert "LAST SEEN" in kubectl("events") or "No events" in kubectl.run("events").stderr
    logs = kubectl.run("logs", "quiet")
    assert logs.returncode == 1
    assert "simulated" in logs.stderr
    assert "CPU(cores)" in kubectl("top", "nodes")
    assert "simulated" in kubectl.run("exec", "quiet", "--", "ls").stderr


def test_custom_resources(kubectl: Kubectl) -> None:
    schema = {
        "type": "object",
        "properties": {
            "spec": {"type": "object", "properties": {"size": {"type": "integer"}, "replicas": {"type": "integer"}}},
            "status": {"type": "object", "properties": {"replicas": {"type": "integer"}}},
        },
    }
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {
            "status": {},
            "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"},
        },
        "additionalPrinterColumns": [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}],
    }
    names = {"plural": "boats", "singular": "boat", "kind": "Boat", "shortNames": ["bt"]}
    spec = {"group": "example.com", "names": names, "scope": "Namespaced", "versions": [version]}
    definition = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": spec}
    kubectl.apply(definition | {"metadata": {"name": "boats.example.com"}})
    kubectl("wait", "--for=condition=Established", "crd/boats.example.com", "--timeout=20s")
    boat = {"apiVersion": "example.com/v1", "kind": "Boat", "metadata": {"name": "b"}, "spec": {"size": 3}}
    kubectl.apply(boat)
    head, row = kubectl("get", "bt").splitlines()
    assert (head.split(), row.split()) == (["NAME", "SIZE"], ["b", "3"])
    kubectl("scale", "boat", "b", "--replicas=4")
    assert kubectl.json("get", "boat", "b")["spec"]["replicas"] == 4
    assert "size" in kubectl("explain", "boat.spec")
    kubectl("delete", "crd", "boats.example.com")


def test_apply_changes_a_stage(kubectl: Kubectl) -> None:
    for phase in ("Running", "Failed"):
        kubectl.apply(
            stage("applied", selector={"matchLabels": {"a": "b"}}, next={"statusTemplate": f"phase: {phase}"})
        )
    assert kubectl.json("get", "stage", "applied")["spec"]["next"] == {"statusTemplate": "phase: Failed"}
