"""Feature gates that are on by default, switched off in both schedulers."""

from typing import Any

from tests.outside.whole_runs.builders import named, node, pod
from tests.outside.whole_runs.shape import Document, Shape, create, delete, patch
from tests.outside.whole_runs.shapes import claims, preemption

RULES = [{"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [1]}}]
DECLARED = (
    "NodeDeclaredFeatures",
    "ExtendWebSocketsToKubelet",
    "InPlacePodLevelResourcesVerticalScaling",
    "InPlacePodVerticalScalingInitContainers",
    "RestartAllContainersOnContainerExits",
)
STATUS = (
    "DRAResourceClaimDeviceStatus",
    "DRADeviceBindingConditions",
    "DRAResourceClaimGranularStatusAuthorization",
)
SHARED = {
    "name": "d0",
    "allowMultipleAllocations": True,
    "capacity": {"memory": {"value": "8Gi", "requestPolicy": {"default": "2Gi"}}},
}
CONSUMES = {"name": "d0", "consumesCounters": [{"counterSet": "c", "counters": {"memory": {"value": "1Gi"}}}]}
COUNTERS = {"name": "c", "counters": {"memory": {"value": "4Gi"}}}
CONDITIONAL = {"name": "d0", "bindingConditions": ["Ready"], "bindingFailureConditions": ["Broken"]}
SLOW = {"podInitialBackoffSeconds": 60, "podMaxBackoffSeconds": 60}


def a_slice(name: str, count: int, *, pool: str = "", **spec: Any) -> Document:
    """A slice of a pool of so many; the pool and the node have one name."""
    where = pool or name
    pools = {"name": where, "generation": 1, "resourceSliceCount": count}
    spec = {"driver": claims.DRIVER, "nodeName": where, "pool": pools, **spec}
    return named(claims.RESOURCE, "ResourceSlice", name, spec=spec)


def part_claim(name: str) -> Document:
    """A claim for a part of a device."""
    claim = claims.device_claim(name)
    (request,) = claim["spec"]["devices"]["requests"]
    request["exactly"]["capacity"] = {"requests": {"memory": "2Gi"}}
    return claim


SHAPES = (
    Shape(
        "preemption within the cycle",
        (
            create(*preemption.CLASSES, node("n1", cpu="2")),
            create(preemption.low("a"), preemption.low("b")),
            create(pod("high", cpu="2", priorityClassName="high")),
            create(pod("second", cpu="1", priorityClassName="middle")),
        ),
        gates={"SchedulerAsyncPreemption": False},
        expects=lambda pods: pods["high"]["node"] == "n1",
    ),
    Shape(
        "backoffs are waited out",
        (
            create(node("n1", cpu="1")),
            create(pod("a", cpu="2")),
            patch("Node", "n1", {"status": {"allocatable": {"cpu": "1500m"}}}, subresource="status"),
            patch("Node", "n1", {"metadata": {"labels": {"x": "y"}}}),
            patch("Node", "n1", {"status": {"allocatable": {"cpu": "2"}}}, subresource="status"),
            create(pod("b", cpu="1")),
            delete("Pod", "a"),
        ),
        gates={"SchedulerPopFromBackoffQ": False},
        expects=lambda pods: pods["b"]["node"] == "n1",
    ),
    Shape(
        "pods with devices are not nominated before they are bound",
        (
            create(node("n1"), claims.device_class(), claims.devices("n1", "d0")),
            create(claims.device_claim("one"), claims.device_claim("two")),
            create(claims.using("a", "one"), claims.using("b", "two")),
        ),
        gates={"NominatedNodeNameForExpectation": False},
        expects=lambda pods: pods["a"]["node"] == "n1",
    ),
    Shape(
        "features that nodes declare are not looked at",
        (
            create(node("n1")),
            create(pod("a", restartPolicy="Never", container={"restartPolicy": "Never", "restartPolicyRules": RULES})),
        ),
        gates=dict.fromkeys(DECLARED, False),
        expects=lambda pods: pods["a"]["node"] == "n1",
    ),
    Shape(
        "a device that could be shared goes to one claim",
        (
            create(node("n1"), claims.device_class(), a_slice("n1", 1, devices=[SHARED])),
            create(claims.device_claim("one"), claims.device_claim("two")),
            create(claims.using("a", "one"), claims.using("b", "two")),
            delete("Pod", "a"),
        ),
        gates={"DRAConsumableCapacity": False},
        expects=lambda pods: not pods["b"]["node"],
    ),
    Shape(
        "a part of a device cannot be requested",
        (
            create(node("n1"), claims.device_class(), a_slice("n1", 1, devices=[SHARED])),
            create(part_claim("one"), claims.using("a", "one")),
        ),
        SLOW,
        gates={"DRAConsumableCapacity": False},
        backing_off=1,
        expects=lambda pods: not pods["a"]["node"],
    ),
    Shape(
        "devices that consume counters are not given",
        (
            create(node("n1"), node("n2"), claims.device_class()),
            create(a_slice("n1", 2, devices=[CONSUMES]), a_slice("n1-c", 2, pool="n1", sharedCounters=[COUNTERS])),
            create(claims.device_claim("one"), claims.using("a", "one")),
            create(claims.devices("n2", "plain")),
            create(claims.device_claim("two"), claims.using("b", "two")),
        ),
        gates={"DRAPartitionableDevices": False},
        expects=lambda pods: pods["a"]["node"] == "n2" and not pods["b"]["node"],
    ),
    Shape(
        "devices with binding conditions are not there without their status",
        (
            create(node("n1"), claims.device_class(), a_slice("n1", 1, devices=[CONDITIONAL])),
            create(claims.device_claim("one"), claims.using("a", "one")),
            create(node("n2"), claims.devices("n2", "plain")),
        ),
        gates=dict.fromkeys(STATUS, False),
        expects=lambda pods: pods["a"]["node"] == "n2",
    ),
    Shape(
        "devices are searched without a timeout",
        (
            create(node("n1"), claims.device_class(), claims.devices("n1", "d0", "d1")),
            create(claims.device_claim("one", 2), claims.device_claim("two")),
            create(claims.using("a", "one"), claims.using("b", "two")),
        ),
        gates={"DRASchedulerFilterTimeout": False},
        expects=lambda pods: pods["a"]["node"] == "n1" and not pods["b"]["node"],
    ),
)
