"""Taints that come and go: which pending pods a changed taint brings back."""

from tests.outside.objects import node, pod
from tests.outside.whole_runs.shape import Document, Shape, create, patch


def taint(name: str, key: str, effect: str = "NoSchedule") -> Document:
    """A patch that leaves a node with one taint."""
    return {"spec": {"taints": [{"key": key, "value": "x", "effect": effect}]}}


SHAPES = (
    Shape(
        "taint updates retry pods that other plugins rejected",
        (
            create(node("n1", cpu="2"), node("n2", cpu="2", disk="hdd")),
            create(pod("large", cpu="3"), pod("ssd", nodeSelector={"disk": "ssd"})),
            create(pod("port", cpu="1", hostNetwork=True), pod("nowhere", nodeName="", cpu="1900m")),
            *(patch("Node", "n1", taint("n1", f"change-{number}")) for number in range(3)),
            patch("Node", "n1", {"spec": {"taints": None}}),
            patch("Node", "n2", {"metadata": {"labels": {"disk": "ssd"}}}),
        ),
        is_quick=True,
        expects=lambda pods: bool(pods["ssd"]["node"]) and not pods["large"]["node"],
    ),
)
