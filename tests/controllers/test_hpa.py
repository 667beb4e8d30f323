"""Usage, and replicas that follow it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seatrial.controllers.hpa.behavior import Memory, limited, rules_of, stabilized
from seatrial.controllers.hpa.replicas import NoProposal, Sample, by_average, by_utilization
from seatrial.controllers.registry import controller_names
from seatrial.controllers.usage import container_usage, node_metrics, pod_metrics
from seatrial.model.times import MINUTE, SECOND
from tests.controllers.manifests import node
from tests.controllers.objects import USAGE, deployment, pod
from tests.controllers.replaying import Cluster

RUNNING = {"status": {"phase": "Running"}}


def test_a_pod_uses_what_it_requests() -> None:
    metrics = pod_metrics(pod("a") | RUNNING, 0)
    assert metrics is not None
    assert metrics["containers"] == [{"name": "c", "usage": {"cpu": "100m", "memory": "65536Ki"}}]


def test_an_annotation_says_what_a_pod_uses() -> None:
    metrics = node_metrics(node("n"), [pod("a", annotations={USAGE: "cpu=2,memory=1Gi"}) | RUNNING, pod("b")], 0)
    assert metrics["usage"] == {"cpu": "2000m", "memory": "1048576Ki"}


def test_a_pod_that_does_not_run_uses_nothing() -> None:
    assert pod_metrics(pod("a"), 0) is None


@given(st.integers(0, 10**6), st.lists(st.integers(0, 500), min_size=1, max_size=5))
def test_containers_share_the_usage_of_their_pod(total: int, requests: list[int]) -> None:
    containers = [
        {"name": str(n), "resources": {"requests": {"cpu": f"{amount}m"}}} for n, amount in enumerate(requests)
    ]
    document = pod("a", annotations={USAGE: f"cpu={total}m"}, containers=containers)
    assert sum(used["cpu"] for used in container_usage(document).values()) == total


def samples(*used: int, requested: int | None = 100, unready: int = 0) -> list[Sample]:
    ready = [Sample(amount, requested, True) for amount in used]
    return ready + [Sample(0, requested, False) for _ in range(unready)]


@pytest.mark.parametrize(
    ("current", "target", "found", "replicas"),
    [
        (2, 50, samples(50, 50), 2),
        (2, 50, samples(54, 54), 2),
        (2, 50, samples(100, 100), 4),
        (2, 50, samples(56, 56), 3),
        (4, 50, samples(10, 10, 10, 10), 1),
        (3, 50, samples(100, 100, unready=1), 4),
        (4, 50, samples(60, 60, unready=2), 4),
    ],
)
def test_replicas_bring_utilization_to_the_target(
    current: int, target: int, found: list[Sample], replicas: int
) -> None:
    assert by_utilization(current, target, found, "cpu").replicas == replicas


def test_replicas_bring_the_average_to_the_target() -> None:
    assert by_average(2, 100, samples(150, 150)).replicas == 3


@pytest.mark.parametrize("found", [[], samples(unready=2), samples(5, requested=None), samples(5, requested=0)])
def test_without_numbers_there_is_no_proposal(found: list[Sample]) -> None:
    with pytest.raises(NoProposal):
        by_utilization(1, 50, found, "cpu")


@pytest.mark.parametrize(
    ("behaviour", "current", "desired", "answer", "reason"),
    [
        (None, 1, 9, 4, "ScaleUpLimit"),
        (None, 5, 30, 10, "ScaleUpLimit"),
        (None, 5, 8, 8, "DesiredWithinRange"),
        (None, 15, 40, 20, "TooManyReplicas"),
        (None, 9, 1, 2, "TooFewReplicas"),
        ({}, 1, 9, 5, "ScaleUpLimit"),
        ({"scaleUp": {"selectPolicy": "Disabled"}}, 5, 9, 5, "ScaleUpLimit"),
        ({"scaleDown": {"policies": [{"type": "Pods", "value": 2, "periodSeconds": 60}]}}, 9, 3, 7, "ScaleDownLimit"),
    ],
)
def test_rates_and_bounds_limit_the_replicas(
    behaviour: dict[str, Any] | None, current: int, desired: int, answer: int, reason: str
) -> None:
    assert limited(Memory(), rules_of(behaviour), (2, 20), current, desired, 0)[:2] == (answer, reason)


def test_replicas_go_down_only_after_the_window() -> None:
    memory, rules = Memory(), rules_of(None)
    assert stabilized(memory, rules, 8, 8, 0) == 8
    assert stabilized(memory, rules, 8, 2, 100 * SECOND) == 8
    assert stabilized(memory, rules, 8, 2, 400 * SECOND) == 2


def test_an_autoscaler_follows_usage_in_virtual_time() -> None:
    cluster = Cluster(controller_names())
    cluster.create(node("n"), deployment(replicas=1, annotations={USAGE: "cpu=300m"}))
    metric = {
        "type": "Resource",
        "resource": {"name": "cpu", "target": {"type": "AverageValue", "averageValue": "100m"}},
    }
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    spec = {"scaleTargetRef": reference, "maxReplicas": 10, "metrics": [metric]}
    autoscaler = {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "web"}}
    cluster.settle()
    cluster.create(autoscaler | {"spec": spec})
    cluster.settle(2 * MINUTE)
    assert cluster.get("Deployment", "web")["spec"]["replicas"] == 10
    status = cluster.get("HorizontalPodAutoscaler", "web")["status"]
    assert {c["type"]: c["reason"] for c in status["conditions"]}["ScalingLimited"] == "TooManyReplicas"
