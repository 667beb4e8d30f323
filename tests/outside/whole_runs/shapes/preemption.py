"""Preemption: chains of it, budgets, nominations that are taken over, and victims that take their time."""

from typing import Any

from tests.outside.whole_runs.builders import node, pod, priority_class
from tests.outside.whole_runs.shape import Document, Shape, create, delete

CLASSES = tuple(priority_class(name, value) for name, value in (("low", 10), ("middle", 100), ("high", 1000)))
SHORT_BACKOFF = {"podInitialBackoffSeconds": 1, "podMaxBackoffSeconds": 1}
"""With pauses of two seconds no pod is backing off, whose order would be a matter of tenths of seconds."""
NEVER = {**priority_class("polite", 5000), "preemptionPolicy": "Never"}


def low(name: str, cpu: str = "1", **more: Any) -> Document:
    return pod(name, cpu=cpu, priorityClassName="low", **more)


def budget(name: str, app: str, allowed: int) -> Document:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": app}}},
        "status": {
            "disruptionsAllowed": allowed,
            "currentHealthy": 1,
            "desiredHealthy": 1,
            "expectedPods": 1,
            "observedGeneration": 1,
        },
    }


SHAPES = (
    Shape(
        "one preemptor and two victims",
        (
            create(*CLASSES, node("n1", cpu="2")),
            create(low("a"), low("b")),
            create(pod("high", cpu="2", priorityClassName="high")),
            create(low("late")),
        ),
        is_quick=True,
        expects=lambda pods: pods["high"]["node"] == "n1" and "a" not in pods,
    ),
    Shape(
        "a chain of preemptions",
        (
            create(*CLASSES, node("n1", cpu="2"), node("n2", cpu="1")),
            create(low("a", cpu="2"), low("b", cpu="1")),
            create(pod("middle", cpu="2", priorityClassName="middle")),
            create(pod("high", cpu="2", priorityClassName="high")),
            create(pod("second", cpu="1", priorityClassName="middle")),
        ),
        expects=lambda pods: pods["high"]["node"] == "n1" and pods["second"]["node"] == "n2",
    ),
    Shape(
        "a nomination is taken over while victims terminate",
        (
            create(*CLASSES, node("n1", cpu="1")),
            create(low("a")),
            create(pod("middle", cpu="1", priorityClassName="middle")),
            create(pod("high", cpu="1", priorityClassName="high")),
            delete("Pod", "a"),
            create(pod("small", cpu="100m", priorityClassName="middle")),
            delete("Pod", "high"),
        ),
        config=SHORT_BACKOFF,
        pause=2.2,
        starts_pods=False,
        expects=lambda pods: pods["middle"]["node"] == "n1",
    ),
    Shape(
        "a preemptor is deleted before its victims are gone",
        (
            create(*CLASSES, node("n1", cpu="2")),
            create(low("a"), low("b")),
            create(pod("high", cpu="2", priorityClassName="high")),
            create(low("waiting")),
            delete("Pod", "high"),
            delete("Pod", "a"),
            delete("Pod", "b"),
        ),
        starts_pods=False,
        expects=lambda pods: pods["waiting"]["node"] == "n1",
    ),
    Shape(
        "budgets choose the victims",
        (
            create(*CLASSES, node("n1", cpu="1"), node("n2", cpu="1")),
            create(budget("kept", "kept", 0), budget("free", "free", 1)),
            create(low("kept", labels={"app": "kept"})),
            create(low("free", labels={"app": "free"})),
            create(pod("high", cpu="1", priorityClassName="high")),
            create(pod("next", cpu="1", priorityClassName="high")),
        ),
        expects=lambda pods: bool(pods["high"]["node"]) and "kept" not in pods,
    ),
    Shape(
        "pods that never preempt wait",
        (
            create(*CLASSES, NEVER, node("n1", cpu="1")),
            create(low("a")),
            create(pod("polite", cpu="1", priorityClassName="polite")),
            create(pod("middle", cpu="1", priorityClassName="middle")),
            delete("Pod", "middle"),
        ),
        expects=lambda pods: pods["polite"]["node"] == "n1",
    ),
    Shape(
        "victims without grace are gone at once",
        (
            create(*CLASSES, node("n1", cpu="3")),
            create(*(low(name, terminationGracePeriodSeconds=0) for name in "abc")),
            create(pod("high", cpu="2", priorityClassName="high")),
            create(pod("higher", cpu="3", priorityClassName="high", priority=1000)),
        ),
        expects=lambda pods: pods["high"]["node"] == "n1",
    ),
)
