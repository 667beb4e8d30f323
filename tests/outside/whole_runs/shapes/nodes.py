"""What happens to nodes: additions, deletions, and each field whose change upstream tells apart."""

from tests.outside.whole_runs.builders import ZONE, in_zone, node, pod
from tests.outside.whole_runs.shape import Shape, create, delete, patch

AMOUNTS = {"cpu": "4", "memory": "8Gi", "pods": "110"}

SHAPES = (
    Shape(
        "nodes grow and shrink",
        (
            create(node("n1", cpu="2"), node("n2", cpu="1")),
            create(pod("three", cpu="3"), pod("four", cpu="4")),
            patch("Node", "n1", {"status": {"allocatable": {"cpu": "1"}}}, subresource="status"),
            patch("Node", "n1", {"status": {"allocatable": {"cpu": "3"}}}, subresource="status"),
            patch("Node", "n2", {"status": {"allocatable": {"pods": "0"}}}, subresource="status"),
            patch("Node", "n2", {"status": {"allocatable": {**AMOUNTS}}}, subresource="status"),
        ),
        expects=lambda pods: (pods["three"]["node"], pods["four"]["node"]) == ("n1", "n2"),
    ),
    Shape(
        "labels of nodes bring pods with selectors back",
        (
            create(in_zone("n1", "a"), in_zone("n2", "b")),
            create(pod("ssd", nodeSelector={"disk": "ssd"}), pod("zone", nodeSelector={ZONE: "c"})),
            patch("Node", "n1", {"metadata": {"labels": {"disk": "hdd"}}}),
            patch("Node", "n1", {"metadata": {"labels": {"disk": "ssd"}}}),
            patch("Node", "n2", {"metadata": {"labels": {ZONE: "c"}}}),
        ),
        expects=lambda pods: (pods["ssd"]["node"], pods["zone"]["node"]) == ("n1", "n2"),
    ),
    Shape(
        "nodes come and go",
        (
            create(node("n1", cpu="1")),
            create(pod("a", cpu="1"), pod("b", cpu="1"), pod("c", cpu="1"), pod("large", cpu="3")),
            create(node("n2", cpu="1")),
            delete("Node", "n1"),
            delete("Pod", "a", "b"),
            create(node("n1", cpu="4")),
            create(pod("d", cpu="1"), pod("e", cpu="1")),
        ),
        expects=lambda pods: pods["large"]["node"] == "n1",
    ),
    Shape(
        "conditions and annotations of nodes wake nobody",
        (
            create(node("n1", cpu="1")),
            create(pod("a", cpu="2"), pod("b", nodeSelector={"x": "y"})),
            patch("Node", "n1", {"metadata": {"annotations": {"note": "1"}}}),
            patch(
                "Node", "n1", {"status": {"conditions": [{"type": "Ready", "status": "False"}]}}, subresource="status"
            ),
            patch(
                "Node", "n1", {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}, subresource="status"
            ),
            patch("Node", "n1", {"status": {"images": [{"names": ["i:1"], "sizeBytes": 9}]}}, subresource="status"),
        ),
        expects=lambda pods: not pods["a"]["node"],
    ),
    Shape(
        "cordoned nodes and pods that tolerate it",
        (
            create(node("n1"), node("n2")),
            patch("Node", "n1", {"spec": {"unschedulable": True}}),
            patch("Node", "n2", {"spec": {"unschedulable": True}}),
            create(pod("a"), pod("b", cpu="99")),
            create(pod("c", tolerations=[{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}])),
            patch("Node", "n2", {"spec": {"unschedulable": None}}),
            create(pod("d")),
            patch("Node", "n1", {"spec": {"unschedulable": None}}),
        ),
        expects=lambda pods: pods["a"]["node"] == "n2" and bool(pods["c"]["node"]),
    ),
)
