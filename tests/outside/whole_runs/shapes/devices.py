"""Devices: extended resources that they stand for, and conditions that a pod waits for."""

from typing import Any

from tests.outside.objects import node, pod, priority_class
from tests.outside.whole_runs.shape import Document, Shape, Step, create, patch

API = "resource.k8s.io/v1"
DRIVER = "gpu.example.com"


def device_class(**spec: Any) -> Document:
    selector = {"cel": {"expression": f'device.driver == "{DRIVER}"'}}
    spec = {"selectors": [selector], **spec}
    return {"apiVersion": API, "kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": spec}


def devices(on: str, count: int, **fields: Any) -> Document:
    """A slice with some devices of a node."""
    spec = {
        "driver": DRIVER,
        "nodeName": on,
        "pool": {"name": on, "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": f"d{number}", **fields} for number in range(count)],
    }
    return {"apiVersion": API, "kind": "ResourceSlice", "metadata": {"name": f"slice-{on}"}, "spec": spec}


def claim(name: str) -> Document:
    request = {"name": "r", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}}
    metadata = {"name": name, "namespace": "default"}
    return {
        "apiVersion": API,
        "kind": "ResourceClaim",
        "metadata": metadata,
        "spec": {"devices": {"requests": [request]}},
    }


def asks(name: str, amount: str = "1") -> Document:
    """A pod that asks for an extended resource."""
    made = pod(name)
    resources = {"requests": {"cpu": "100m", "example.com/gpu": amount}, "limits": {"example.com/gpu": amount}}
    made["spec"]["containers"][0]["resources"] = resources
    return made


def user(name: str, of: str, **spec: Any) -> Document:
    return pod(name, resourceClaims=[{"name": "x", "resourceClaimName": of}], **spec)


def tell(of: str, type: str, device: str = "d0", on: str = "n1") -> Step:
    """The driver says something about a device."""
    condition = {"type": type, "status": "True", "reason": "Said", "message": "so"}
    condition["lastTransitionTime"] = "2026-01-01T00:00:00Z"
    entry = {"driver": DRIVER, "pool": on, "device": device, "conditions": [condition]}
    return patch("ResourceClaim", of, {"status": {"devices": [entry]}}, subresource="status", api_version=API)


CONDITIONS = {"bindsToNode": True, "bindingConditions": ["Ready"], "bindingFailureConditions": ["Broken"]}
SLOW = {"podInitialBackoffSeconds": 60, "podMaxBackoffSeconds": 60}
SHORT = {"profiles": [{"pluginConfig": [{"name": "DynamicResources", "args": {"bindingTimeout": "3s"}}]}]}

SHAPES = (
    Shape(
        "extended resources of devices, pods first",
        (
            create(device_class(extendedResourceName="example.com/gpu"), devices("n1", 3), node("n0")),
            create(asks("a"), asks("b"), asks("c")),
            create(node("n1")),
            create(asks("d")),
            create(devices("n2", 2)),
            create(node("n2")),
        ),
        expects=lambda pods: all(pods[name]["node"] for name in "abcd"),
    ),
    Shape(
        "extended resources of devices next to a device plugin",
        (
            create(device_class(extendedResourceName="example.com/gpu"), devices("n1", 1), node("n1"), node("n2")),
            create(asks("a")),
            create(asks("b")),
            patch(
                "Node",
                "n2",
                {"status": {"allocatable": {"example.com/gpu": "1"}, "capacity": {"example.com/gpu": "1"}}},
                subresource="status",
            ),
            create(asks("c")),
        ),
        expects=lambda pods: bool(pods["a"]["node"]),
    ),
    Shape(
        "binding conditions come true",
        (
            create(device_class(), devices("n1", 2, **CONDITIONS), node("n1"), claim("c1"), claim("c2")),
            create(user("p1", "c1"), user("p2", "c2"), pod("plain")),
            tell("c1", "Ready"),
            tell("c2", "Ready", "d1"),
        ),
        seconds=5.3,
        expects=lambda pods: pods["p1"]["node"] == "n1" and pods["p2"]["node"] == "n1",
    ),
    Shape(
        "binding conditions fail",
        (
            create(device_class(), devices("n1", 1, **CONDITIONS), node("n1"), claim("c1")),
            create(user("p1", "c1")),
            tell("c1", "Broken"),
        ),
        SLOW,
        backing_off=1,
        seconds=5.3,
        expects=lambda pods: not pods["p1"]["node"],
    ),
    Shape(
        "binding conditions take too long",
        (
            create(device_class(), devices("n1", 1, **CONDITIONS), node("n1"), claim("c1")),
            create(user("p1", "c1")),
        ),
        {**SLOW, **SHORT},
        backing_off=1,
        seconds=3.3,
        expects=lambda pods: not pods["p1"]["node"],
    ),
    Shape(
        "a pod that waits for devices makes room",
        (
            create(device_class(), devices("n1", 1, **CONDITIONS), node("n1", cpu="1"), claim("c1")),
            create(priority_class("high", 1000)),
            create(user("p1", "c1", cpu="600m")),
            create(pod("high", cpu="600m", priorityClassName="high")),
        ),
        SLOW,
        backing_off=1,
        random={"events:high": "whether it is popped again before its status of the first attempt has come back"},
        expects=lambda pods: pods["high"]["node"] == "n1" and not pods["p1"]["node"],
    ),
)
