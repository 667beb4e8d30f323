"""Claims of devices: pods wait for them, for slices and for classes."""

from typing import Any

from tests.outside.whole_runs.builders import named, node, pod
from tests.outside.whole_runs.shape import Document, Shape, create, delete

RESOURCE = "resource.k8s.io/v1"
DRIVER = "gpu.example.com"


def device_class(name: str = "gpu") -> Document:
    selector = {"cel": {"expression": f'device.driver == "{DRIVER}"'}}
    return named(RESOURCE, "DeviceClass", name, spec={"selectors": [selector]})


def devices(node: str, *names: str) -> Document:
    """The slice of a node."""
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    listed = [{"name": name} for name in names]
    return named(
        RESOURCE, "ResourceSlice", node, spec={"driver": DRIVER, "nodeName": node, "pool": pool, "devices": listed}
    )


def device_claim(name: str, count: int = 1) -> Document:
    request = {"name": "r", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": count}}
    document = named(RESOURCE, "ResourceClaim", name, spec={"devices": {"requests": [request]}})
    document["metadata"]["namespace"] = "default"
    return document


def using(name: str, *claims: str, **spec: Any) -> Document:
    listed = [{"name": claim, "resourceClaimName": claim} for claim in claims]
    return pod(name, resourceClaims=listed, container={"resources": {"claims": [{"name": c} for c in claims]}}, **spec)


RULE = named(
    RESOURCE,
    "DeviceTaintRule",
    "broken",
    spec={"deviceSelector": {"driver": DRIVER}, "taint": {"key": "example.com/broken", "effect": "NoSchedule"}},
)
OTHER = {**RULE, "metadata": {"name": "elsewhere"}, "spec": {**RULE["spec"], "deviceSelector": {"driver": "other"}}}

SHAPES = (
    Shape(
        "a DeviceTaintRule taints devices, and lets them go",
        (
            create(node("n1"), device_class(), devices("n1", "d0"), RULE),
            create(device_claim("one"), using("a", "one")),
            create(OTHER),
            delete("DeviceTaintRule", "elsewhere", api_version=RESOURCE),
            delete("DeviceTaintRule", "broken", api_version=RESOURCE),
        ),
        kind=(RESOURCE, "DeviceTaintRule"),
        is_quick=True,
        expects=lambda pods: bool(pods["a"]["node"]),
    ),
    Shape(
        "claims, slices and classes come one by one",
        (
            create(node("n1"), node("n2")),
            create(using("a", "one"), using("b", "two")),
            create(device_claim("one")),
            create(device_class()),
            create(devices("n1", "d0")),
            create(device_claim("two")),
            create(devices("n2", "d0", "d1")),
            create(using("c", "three"), device_claim("three", 3)),
        ),
        expects=lambda pods: bool(pods["a"]["node"]) and bool(pods["b"]["node"]) and not pods["c"]["node"],
    ),
    Shape(
        "pods share a claim, and devices become free with it",
        (
            create(node("n1", cpu="300m"), device_class(), devices("n1", "d0")),
            create(device_claim("shared"), device_claim("second")),
            create(using("a", "shared"), using("b", "shared"), using("c", "second")),
            delete("Pod", "a"),
            delete("Pod", "b"),
            delete("ResourceSlice", "n1", api_version=RESOURCE),
        ),
        expects=lambda pods: not pods["c"]["node"],
    ),
)
