"""Several profiles, other plugins and weights, and a search that stops early."""

from tests.outside.whole_runs.builders import in_zone, node, pod
from tests.outside.whole_runs.shape import Shape, create, delete, patch

PACKING = {
    "schedulerName": "packing",
    "pluginConfig": [{"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": "MostAllocated"}}}],
}
BLIND = {
    "schedulerName": "blind",
    "plugins": {"multiPoint": {"disabled": [{"name": "TaintToleration"}, {"name": "DefaultPreemption"}]}},
}
TAINT = {"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}}

SHAPES = (
    Shape(
        "two profiles with scores of their own",
        (
            create(*(node(f"n{number}", cpu="4") for number in range(3))),
            *(create(pod(f"a{number}", cpu="500m")) for number in range(3)),
            *(create(pod(f"b{number}", cpu="500m", schedulerName="packing")) for number in range(5)),
            create(pod("foreign", schedulerName="another"), pod("large", cpu="9", schedulerName="packing")),
            patch("Node", "n2", {"status": {"allocatable": {"cpu": "16"}}}, subresource="status"),
        ),
        config={"profiles": [{"schedulerName": "default-scheduler"}, PACKING]},
        is_quick=True,
        expects=lambda pods: pods["large"]["node"] == "n2" and not pods["foreign"]["node"],
    ),
    Shape(
        "a profile without taints and preemption",
        (
            create(node("n1", cpu="1"), node("n2", cpu="1")),
            patch("Node", "n1", TAINT),
            patch("Node", "n2", TAINT),
            create(pod("careful", cpu="1"), pod("blind", cpu="1", schedulerName="blind")),
            create(
                pod("second", cpu="1", schedulerName="blind"), pod("third", cpu="1", schedulerName="blind", priority=0)
            ),
            delete("Pod", "blind"),
        ),
        config={"profiles": [{"schedulerName": "default-scheduler"}, BLIND]},
        expects=lambda pods: bool(pods["third"]["node"]) and not pods["careful"]["node"],
    ),
    Shape(
        "a hundred and twenty nodes of which half are looked at",
        (
            create(*(in_zone(f"n{number:03}", "abc"[number % 3], cpu="1") for number in range(120))),
            *(create(pod(f"p{number}", cpu=f"{100 + 50 * number}m")) for number in range(12)),
            delete("Node", "n005", "n007"),
            create(pod("late", cpu="1")),
        ),
        config={"percentageOfNodesToScore": 50},
        expects=lambda pods: all(pod["node"] for pod in pods.values()),
    ),
    Shape(
        "ties among equal nodes in zones",
        (
            create(*(in_zone(f"n{number}", "ab"[number % 2], cpu="2") for number in range(7))),
            *(create(pod(f"p{number}", cpu="200m", labels={"app": "x"})) for number in range(12)),
            delete("Node", "n3"),
            *(create(pod(f"q{number}", cpu="100m")) for number in range(4)),
        ),
        expects=lambda pods: all(pod["node"] for pod in pods.values()),
    ),
)
