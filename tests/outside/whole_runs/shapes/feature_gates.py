"""Feature gates that are on by default, switched off in both schedulers."""

from tests.outside.whole_runs.builders import node, pod
from tests.outside.whole_runs.shape import Shape, create, delete, patch
from tests.outside.whole_runs.shapes import claims, preemption

RULES = [{"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [1]}}]
DECLARED = (
    "NodeDeclaredFeatures",
    "ExtendWebSocketsToKubelet",
    "InPlacePodLevelResourcesVerticalScaling",
    "InPlacePodVerticalScalingInitContainers",
    "RestartAllContainersOnContainerExits",
)

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
)
