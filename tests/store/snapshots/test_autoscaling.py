"""Autoscalers of a snapshot stay at rest: a dump has no metrics, so their pods get the usage that they have seen."""

from typing import Any

import pytest

from seatrial.store.snapshots import USAGE
from tests.scenario.playing import done, operations
from tests.scenario.running import Run, node
from tests.store.snapshots.objects import Document, lived

TEMPLATE: Document = {
    "metadata": {"labels": {"app": "web"}},
    "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "500m"}}}]},
}
REPLICAS = 4
RUNS = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}


def web(current: int | None = None, **more: Any) -> list[Document]:
    """A ReplicaSet of four pods and its autoscaler, with a target of 60 percent, between 2 and 10 replicas."""
    selector = {"matchLabels": {"app": "web"}}
    spec = {"replicas": REPLICAS, "selector": selector, "template": TEMPLATE}
    owner = lived("ReplicaSet", "web", "apps/v1", spec=spec, status={"replicas": REPLICAS})
    reference = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "controller": True}
    pods = []
    for number in range(REPLICAS):
        pod = lived("Pod", f"web-{number}", spec={**TEMPLATE["spec"], "nodeName": "n"}, status=RUNS)
        pod["metadata"] |= {
            "labels": {"app": "web"},
            "ownerReferences": [{**reference, "uid": owner["metadata"]["uid"]}],
        }
        pods.append(pod)
    target = {"type": "Utilization", "averageUtilization": 60}
    metrics = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    status: Document = {"currentReplicas": REPLICAS, "desiredReplicas": REPLICAS, **more}
    if current is not None:
        seen = {"averageUtilization": current, "averageValue": f"{5 * current}m"}
        status["currentMetrics"] = [{"type": "Resource", "resource": {"name": "cpu", "current": seen}}]
    limits = {"minReplicas": 2, "maxReplicas": 10, "metrics": metrics}
    scaled = {key: reference[key] for key in ("apiVersion", "kind", "name")}
    of_web: Document = {"spec": {"scaleTargetRef": scaled, **limits}, "status": status}
    return [node("n"), owner, *pods, lived("HorizontalPodAutoscaler", "web", "autoscaling/v2", **of_web)]


def played(snapshot: list[Document]) -> Run:
    """Two minutes with the autoscaler switched on."""
    spec = operations(done(2), presimulationControllers={"enabled": [{"name": "hpa"}]})
    return Run(spec, {"step_duration": "60s"}, snapshot=snapshot)


@pytest.mark.parametrize(
    ("current", "usage"), [(None, "cpu=300m"), (57, "cpu=285m"), (20, "cpu=300m"), (95, "cpu=300m")]
)
def test_an_autoscaler_at_rest_stays_at_rest(current: int | None, usage: str) -> None:
    """By the usage it has seen, or by its target where it would scale by that."""
    run = played(web(current))
    pods = run.all("Pod")
    assert [pod["metadata"]["annotations"][USAGE] for pod in pods] == [usage] * REPLICAS
    assert (run.get("HorizontalPodAutoscaler", "web", "autoscaling/v2") or {})["status"]["currentMetrics"]


def test_an_autoscaler_that_was_about_to_scale_does() -> None:
    assert len(played(web(90, desiredReplicas=6)).all("Pod")) > REPLICAS


def test_a_usage_that_a_pod_has_is_kept() -> None:
    snapshot = web()
    for document in snapshot:
        if document["kind"] == "Pod":
            document["metadata"]["annotations"] = {USAGE: "cpu=310m"}
    assert {pod["metadata"]["annotations"][USAGE] for pod in played(snapshot).all("Pod")} == {"cpu=310m"}
