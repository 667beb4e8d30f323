"""The two kinds whose versions differ in more than their apiVersion.

Events of core/v1 and events.k8s.io/v1 are one thing under two names; a HorizontalPodAutoscaler of autoscaling/v1 keeps
what only v2 can say in annotations. Custom resources have conversion None.
Upstream: pkg/apis/events/v1/conversion.go, pkg/apis/autoscaling/v1/conversion.go.
"""

from collections.abc import Callable
from typing import Any

from seatrial.model.documents import Document, decode, encode
from seatrial.model.kinds import Kind

STORED_AS = {("events.k8s.io", "Event"): ("", "Event")}
"""Kinds that are kept as another group's, by group and kind."""

EVENT_NAMES = {
    "involvedObject": "regarding",
    "message": "note",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
    "reportingComponent": "reportingController",
}
CORE_NAMES = {new: old for old, new in EVENT_NAMES.items()}
METRICS, BEHAVIOR = "autoscaling.alpha.kubernetes.io/metrics", "autoscaling.alpha.kubernetes.io/behavior"
CURRENT, CONDITIONS = "autoscaling.alpha.kubernetes.io/current-metrics", "autoscaling.alpha.kubernetes.io/conditions"

Conversion = Callable[[Document], Document]


def is_converted(source: Kind, kind: Kind) -> bool:
    """Whether the two versions differ in more than their apiVersion."""
    return (source.api_version, kind.api_version, kind.kind) in _CONVERSIONS


def convert(document: Document, kind: Kind) -> Document:
    """The document in the version of `kind`."""
    source = document.get("apiVersion")
    if source == kind.api_version:
        return document
    change = _CONVERSIONS.get((str(source), kind.api_version, kind.kind))
    converted = change(document) if change is not None else document
    result: Document = {"kind": kind.kind, "apiVersion": kind.api_version}
    result.update((key, value) for key, value in converted.items() if key not in ("kind", "apiVersion"))
    return result


def _renamed(names: dict[str, str]) -> Conversion:
    return lambda document: {names.get(key, key): value for key, value in document.items()}


def _to_autoscaling_v1(document: Document) -> Document:
    spec, status = dict(document.get("spec") or {}), dict(document.get("status") or {})
    annotations = dict((document.get("metadata") or {}).get("annotations") or {})
    metrics = spec.pop("metrics", None) or []
    cpu = next((metric for metric in metrics if _is_cpu(metric)), None)
    if cpu is not None:
        spec["targetCPUUtilizationPercentage"] = cpu["resource"]["target"]["averageUtilization"]
    _annotate(annotations, METRICS, [metric for metric in metrics if metric is not cpu])
    _annotate(annotations, BEHAVIOR, spec.pop("behavior", None))
    current = status.pop("currentMetrics", None) or []
    for metric in current:
        use = (metric.get("resource") or {}).get("current", {}).get("averageUtilization")
        if metric.get("type") == "Resource" and metric["resource"].get("name") == "cpu" and use is not None:
            status["currentCPUUtilizationPercentage"] = use
    _annotate(annotations, CURRENT, current)
    _annotate(annotations, CONDITIONS, status.pop("conditions", None))
    return document | {"metadata": _with_annotations(document, annotations), "spec": spec, "status": status}


def _from_autoscaling_v1(document: Document) -> Document:
    spec, status = dict(document.get("spec") or {}), dict(document.get("status") or {})
    annotations = dict((document.get("metadata") or {}).get("annotations") or {})
    metrics = _annotated(annotations, METRICS, list)
    share = spec.pop("targetCPUUtilizationPercentage", None)
    if share is not None:
        target = {"type": "Utilization", "averageUtilization": share}
        metrics = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}, *metrics]
    if metrics:
        spec["metrics"] = metrics
    behavior = _annotated(annotations, BEHAVIOR, dict)
    if behavior:
        spec["behavior"] = behavior
    status.pop("currentCPUUtilizationPercentage", None)
    for annotation, field in ((CURRENT, "currentMetrics"), (CONDITIONS, "conditions")):
        values = _annotated(annotations, annotation, list)
        if values:
            status[field] = values
    converted = document | {"metadata": _with_annotations(document, annotations), "spec": spec}
    if status or "status" in document:
        converted["status"] = status
    return converted


def _is_cpu(metric: Document) -> bool:
    resource = metric.get("resource") or {}
    target = resource.get("target") or {}
    return metric.get("type") == "Resource" and resource.get("name") == "cpu" and "averageUtilization" in target


def _annotate(annotations: Document, key: str, value: Any) -> None:
    if value:
        annotations[key] = encode(value).decode()


def _annotated(annotations: Document, key: str, type: type) -> Any:
    text = annotations.pop(key, "")
    try:
        value = decode(text) if isinstance(text, str) and text else type()
    except ValueError:
        return type()
    return value if isinstance(value, type) else type()


def _with_annotations(document: Document, annotations: Document) -> Document:
    metadata = {key: value for key, value in (document.get("metadata") or {}).items() if key != "annotations"}
    return metadata | {"annotations": annotations} if annotations else metadata


_CONVERSIONS: dict[tuple[str, str, str], Conversion] = {
    ("v1", "events.k8s.io/v1", "Event"): _renamed(EVENT_NAMES),
    ("events.k8s.io/v1", "v1", "Event"): _renamed(CORE_NAMES),
    ("autoscaling/v2", "autoscaling/v1", "HorizontalPodAutoscaler"): _to_autoscaling_v1,
    ("autoscaling/v1", "autoscaling/v2", "HorizontalPodAutoscaler"): _from_autoscaling_v1,
}
