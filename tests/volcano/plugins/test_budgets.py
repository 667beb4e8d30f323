"""The pdb plugin keeps evictions within PodDisruptionBudgets."""

from seatrial.model.documents import Document
from seatrial.verify.recorded_cluster import World
from tests.volcano.sessions import cycle, group, node, pod

CONF = (
    'actions: "preempt"\ntiers:\n- plugins:\n  - name: priority\n  - name: pdb\n- plugins:\n  - name: gang\n'
    "    enablePreemptable: false\n  - name: predicates\n  - name: nodeorder\n"
)
CLASSES = [{"metadata": {"name": "high"}, "value": 100}]


def budget(allowed: int) -> Document:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "keep", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}},
        "status": {"disruptionsAllowed": allowed},
    }


def evicted(allowed: int, labels: dict[str, str]) -> list[str]:
    there = [pod(f"low-w-{i}", "low", cpu="2", on="n1", labels=labels, priority=0) for i in range(4)]
    wanting = pod("high-w-0", "high", cpu="4", priority=100)
    groups = [group("low", phase="Running"), group("high", priorityClassName="high")]
    objects = World([budget(allowed)], [])
    _, result = cycle([node("n1")], [*there, wanting], groups, conf=CONF, priority_classes=CLASSES, objects=objects)
    return sorted(task.name for task, _ in result.evictions)


def test_as_many_are_evicted_as_the_budget_allows() -> None:
    assert len(evicted(4, {"app": "web"})) == 2
    assert evicted(1, {"app": "web"}) == []


def test_a_pod_without_labels_is_never_a_victim() -> None:
    assert evicted(4, {}) == []
