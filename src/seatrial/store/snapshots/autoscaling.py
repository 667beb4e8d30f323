"""Gives pods the usage that their HorizontalPodAutoscaler has seen, so that an autoscaler at rest stays at rest.

Metrics are not in a dump. Without the annotation the usage of a pod is its requests, and an autoscaler with a target of
60 percent would scale up at once. The usage is what the status of the autoscaler says; where that says nothing, or
would make it scale although it was at rest (it waits for its stabilization window then), the target itself.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from seatrial.model.documents import Document
from seatrial.model.label_selectors import LabelSelector
from seatrial.model.quantity import quantity_milli
from seatrial.store.objects import Stored

if TYPE_CHECKING:
    from seatrial.store.store import Store

USAGE = "simulation.kube-scheduler-simulator.x-k8s.io/usage"
"""The annotation by which metrics know the usage of a pod."""
SOURCES = {"Resource": "resource", "ContainerResource": "containerResource"}
TOLERANCE = 0.1
"""Ratios of usage and target that are nearer to 1 do not scale (upstream's default)."""


def note_usage(store: "Store", loaded: Sequence[Stored], writer: str) -> None:
    """Annotate the pods of loaded autoscalers that say nothing about their usage."""
    by_place = {(stored.kind.kind, stored.namespace, stored.name): stored for stored in loaded}
    pods = [stored for stored in loaded if stored.kind.kind == "Pod"]
    for stored in loaded:
        if stored.kind.kind != "HorizontalPodAutoscaler":
            continue
        autoscaler = stored.document()
        reference = autoscaler["spec"]["scaleTargetRef"]
        target = by_place.get((reference["kind"], stored.namespace, reference["name"]))
        if target is None:
            continue
        selector = LabelSelector.from_document((target.document().get("spec") or {}).get("selector"))
        for pod in pods:
            if pod.namespace == stored.namespace and selector.matches(pod.document()["metadata"].get("labels")):
                _note(store, pod, autoscaler, writer)


def _note(store: "Store", pod: Stored, autoscaler: Document, writer: str) -> None:
    current = store.find(pod.kind, pod.name, pod.namespace)
    if current is None:
        return
    document = current.document()
    annotations = document["metadata"].get("annotations") or {}
    usage = ",".join(f"{name}={amount}m" for name, amount in _usage(autoscaler, document))
    if usage and USAGE not in annotations:
        metadata = {**document["metadata"], "annotations": {**annotations, USAGE: usage}}
        store.put(current.kind, {**document, "metadata": metadata}, current, writer=writer)


def _usage(autoscaler: Document, pod: Document) -> Iterator[tuple[str, int]]:
    """The thousandths of each resource that a pod uses."""
    seen = (autoscaler.get("status") or {}).get("currentMetrics") or []
    for metric in autoscaler["spec"].get("metrics") or ():
        source = metric.get(SOURCES.get(metric["type"], ""))
        if source is None:
            continue
        found = (other.get(SOURCES[metric["type"]]) or {} for other in seen if other.get("type") == metric["type"])
        current = next((each.get("current") or {} for each in found if each.get("name") == source["name"]), {})
        target = source["target"]
        if target["type"] == "Utilization":
            percent = _at_rest(autoscaler, current.get("averageUtilization"), target["averageUtilization"])
            yield source["name"], -(-percent * _requested(pod, source["name"]) // 100)
        else:
            value = current.get("averageValue")
            wanted = quantity_milli(target["averageValue"])
            yield source["name"], _at_rest(autoscaler, None if value is None else quantity_milli(value), wanted)


def _at_rest(autoscaler: Document, current: int | None, target: int) -> int:
    """What was measured, unless an autoscaler at rest would scale by it; then its target."""
    spec, status = autoscaler["spec"], autoscaler.get("status") or {}
    if current is None or not target:
        return target
    replicas = status.get("currentReplicas", 0)
    ratio = current / target
    stays = (
        abs(ratio - 1) <= TOLERANCE
        or (ratio < 1 and replicas <= spec.get("minReplicas", 1))
        or (ratio > 1 and replicas >= spec["maxReplicas"])
    )
    return current if stays or status.get("desiredReplicas", replicas) != replicas else target


def _requested(pod: Document, resource: str) -> int:
    containers = (pod.get("spec") or {}).get("containers") or ()
    requests = ((container.get("resources") or {}).get("requests") or {} for container in containers)
    return sum(quantity_milli(each[resource]) for each in requests if resource in each)
