"""`seatrial.Cluster`: objects are applied, then each `schedule` is one step of the engine."""

from typing import Any

import pytest

from seatrial import Cluster
from seatrial.model.errors import NotFound


def a_node(name: str, cpu: str = "2") -> dict[str, Any]:
    amounts = {"cpu": cpu, "memory": "4Gi", "pods": "20"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {"allocatable": amounts}}


def spec(cpu: str, **more: Any) -> dict[str, Any]:
    return {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}], **more}


def a_pod(name: str, cpu: str = "1", **more: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec(cpu, **more)}


def test_schedule_binds_what_fits_and_tells_how_many() -> None:
    cluster = Cluster()
    cluster.apply(a_node("n1"))
    for number in range(3):
        cluster.apply(a_pod(f"p{number}"))
    assert cluster.schedule() == 2
    assert cluster.schedule() == 0
    cluster.apply(a_node("n2"))
    assert cluster.schedule() == 1
    assert cluster.get("pod", "p2")["spec"]["nodeName"] == "n2"


def test_controllers_work_before_the_scheduler() -> None:
    cluster = Cluster()
    cluster.apply(a_node("n1"))
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": spec("500m")}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"replicas": 3, "selector": {"matchLabels": labels}, "template": template},
    }
    cluster.apply(deployment)
    assert cluster.schedule() == 3
    assert {pod["status"]["phase"] for pod in cluster.list("pods")} == {"Running"}


def test_a_preemptor_takes_the_place_of_its_victim_within_one_call() -> None:
    cluster = Cluster()
    cluster.apply(a_node("n1", cpu="1"))
    cluster.apply(a_pod("low"))
    assert cluster.schedule() == 1
    high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 10}
    cluster.apply(high)
    cluster.apply(a_pod("high", priorityClassName="high"))
    cluster.schedule()
    assert cluster.get("pod", "high")["spec"]["nodeName"] == "n1"
    with pytest.raises(NotFound):
        cluster.get("pod", "low")


def test_a_pending_pod_is_explained_by_its_attempts() -> None:
    cluster = Cluster()
    cluster.apply(a_node("n1", cpu="1"))
    cluster.apply(a_pod("big", cpu="8"))
    assert cluster.schedule() == 0
    assert "Insufficient cpu" in str(cluster.explain("big"))
