"""Scenarios with pods that wait for volumes and devices before they are bound."""

from typing import Any

import pytest

from tests.scenario.playing import create, done, operations, patch
from tests.scenario.running import Run, node, pod
from tests.scheduler.dra.devices import DRIVER, device, pool

API = "resource.k8s.io/v1"
EXTENDED = "example.com/gpu"


def device_class(**spec: Any) -> dict[str, Any]:
    selectors = [{"cel": {"expression": f'device.driver == "{DRIVER}"'}}]
    metadata = {"name": "gpu"}
    return {"apiVersion": API, "kind": "DeviceClass", "metadata": metadata, "spec": {"selectors": selectors, **spec}}


def devices(*listed: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": API, "kind": "ResourceSlice", **pool(*listed, node="n1")}


def claim() -> dict[str, Any]:
    request = {"name": "r", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}}
    metadata = {"name": "c", "namespace": "default"}
    spec = {"devices": {"requests": [request]}}
    return {"apiVersion": API, "kind": "ResourceClaim", "metadata": metadata, "spec": spec}


def storage_class(provisioner: str) -> dict[str, Any]:
    head = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "wait"}}
    return {**head, "provisioner": provisioner, "volumeBindingMode": "WaitForFirstConsumer"}


def volume_claim() -> dict[str, Any]:
    resources = {"requests": {"storage": "1Gi"}}
    spec = {"accessModes": ["ReadWriteOnce"], "resources": resources, "storageClassName": "wait"}
    metadata = {"name": "c", "namespace": "default"}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}


def with_volume(name: str = "p") -> dict[str, Any]:
    return pod(name, volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}])


def node_of(run: Run, name: str) -> str:
    return str((run.get("Pod", name) or {"spec": {}})["spec"].get("nodeName", ""))


def test_pods_that_wait_for_devices_are_all_bound_when_the_node_comes() -> None:
    resources = {"requests": {EXTENDED: "1"}, "limits": {EXTENDED: "1"}}
    pods = [pod(name, containers=[{"name": "c", "image": "i", "resources": resources}]) for name in ("a", "b", "c")]
    slices = devices(device("d0"), device("d1"), device("d2"))
    spec = operations(
        create(1, device_class(extendedResourceName=EXTENDED)),
        create(1, slices),
        *(create(2, one) for one in pods),
        create(3, node("n1")),
        done(4),
    )
    run = Run(spec)
    assert run.status["phase"] == "Succeeded", run.status.get("message")
    assert [node_of(run, name) for name in ("a", "b", "c")] == ["n1"] * 3
    assert all("extendedResourceClaimStatus" in found["status"] for found in run.all("Pod"))


@pytest.mark.parametrize("provisioner", ["disk.example.com", "rancher.io/local-path"])
def test_a_claim_is_provisioned_while_its_pod_waits(provisioner: str) -> None:
    objects = [node("n1"), storage_class(provisioner), volume_claim(), with_volume(), pod("plain")]
    spec = operations(*(create(1, one) for one in objects), done(2))
    run = Run(spec)
    assert run.status["phase"] == "Succeeded", run.status.get("message")
    assert (node_of(run, "p"), node_of(run, "plain")) == ("n1", "n1")
    assert len(run.all("PersistentVolume")) == 1
    bound = [entry["podScheduled"]["pod"]["metadata"]["name"] for entry in run.entries("podScheduled")]
    assert bound == ["plain", "p"]


@pytest.mark.parametrize(("duration", "failures"), [("0s", 0), ("250s", 0), ("500s", 1), ("650s", 2)])
def test_a_claim_that_is_not_provisioned_fails_when_the_scenario_lets_the_time_pass(
    duration: str, failures: int
) -> None:
    objects = [node("n1"), storage_class("kubernetes.io/aws-ebs"), volume_claim(), with_volume()]
    spec = operations(*(create(1, one) for one in objects), done(2))
    run = Run(spec, {"step_duration": duration})
    assert node_of(run, "p") == ""
    told = [event for event in run.all("Event") if "context deadline exceeded" in event["message"]]
    assert len(told) == failures


def test_a_later_step_makes_a_device_ready() -> None:
    waits: Any = {"bindsToNode": True, "bindingConditions": ["Ready"], "bindingFailureConditions": ["Broken"]}
    condition = {"type": "Ready", "status": "True", "reason": "R", "message": ""}
    condition["lastTransitionTime"] = "2030-01-01T00:00:00Z"
    ready = {"driver": DRIVER, "pool": "n1", "device": "d0", "conditions": [condition]}
    user = pod("p", resourceClaims=[{"name": "x", "resourceClaimName": "c"}])
    objects = [node("n1"), device_class(), devices(device("d0", **waits)), claim(), user]
    spec = operations(
        *(create(1, one) for one in objects),
        patch(
            2, claim(), {"status": {"devices": [ready]}}, patchType="application/merge-patch+json", subresource="status"
        ),
        done(3),
    )
    run = Run(spec)
    assert run.status["phase"] == "Succeeded", run.status.get("message")
    assert node_of(run, "p") == "n1"
    (entry,) = run.entries("podScheduled")
    assert entry["step"]["major"] == 2
