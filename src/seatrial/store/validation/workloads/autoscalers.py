"""HorizontalPodAutoscalers: bounds, metrics and the pace of scaling.

Upstream: pkg/apis/autoscaling/validation/validation.go.
"""

from collections.abc import Iterator
from math import inf

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.model.quantity import Quantity
from seatrial.store.field_errors import forbidden, invalid, required, unsupported
from seatrial.store.object_meta import segment_faults
from seatrial.store.validation.formats import label, not_negative
from seatrial.store.validation.quantities import container_resource_name
from seatrial.store.validation.rules import (
    Check,
    Row,
    always,
    among,
    given,
    items,
    need,
    present,
    ranged,
    rules,
    valid,
)  # fmt: skip

_KINDS = {
    "Object": "object",
    "External": "external",
    "Pods": "pods",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}
_TYPES = ("ContainerResource", "External", "Object", "Pods", "Resource")


def create_causes(document: Document) -> Iterator[Cause]:
    """Validation errors of a new HorizontalPodAutoscaler."""
    yield from _spec(document.get("spec") or {}, None)


def _spec(spec: Document, old: Document | None) -> Iterator[Cause]:
    least, most = spec.get("minReplicas"), spec.get("maxReplicas", 0)
    was_zero = old is not None and old.get("minReplicas") == 0
    if least is not None and least < (0 if was_zero else 1):
        yield invalid("spec.minReplicas", least, "must be greater than or equal to 1")
    if most == 0:
        yield required("spec.maxReplicas", "must be set and greater than 0")
    elif most < 0:
        yield invalid("spec.maxReplicas", most, "must be greater than or equal to 1")
    if least is not None and most < least:
        yield invalid("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`")
    target, before = spec.get("scaleTargetRef") or {}, (old or {}).get("scaleTargetRef") or {}
    yield from _TARGET_REFERENCE(spec, "spec")
    same = old is not None and all(target.get(key) == before.get(key) for key in ("apiVersion", "kind"))
    if not same and target.get("kind") != "ReplicationController" and "/" not in target.get("apiVersion", ""):
        why = "apiVersion must specify API group"
        yield invalid("spec.scaleTargetRef.apiVersion", target.get("apiVersion", ""), why)
    metrics = spec.get("metrics") or ()
    for index, metric in enumerate(metrics):
        yield from _metric(metric, f"spec.metrics[{index}]")
    if least == 0 and not {metric.get("type") for metric in metrics} & {"Object", "External"}:
        why = "must specify at least one Object or External metric to support scaling to zero replicas"
        yield forbidden("spec.metrics", why)
    yield from _BEHAVIOR(spec, "spec")


def update_causes(document: Document, old: Document, subresource: str) -> Iterator[Cause]:
    """Validation errors of an update of a HorizontalPodAutoscaler."""
    if subresource == "status":
        yield from _STATUS(document.get("status") or {}, "status")
    elif document.get("spec") != old.get("spec"):
        yield from _spec(document.get("spec") or {}, old.get("spec") or {})


def _metric(metric: Document, path: str) -> Iterator[Cause]:
    kind = metric.get("type", "")
    if not kind:
        yield required(f"{path}.type", "must specify a metric source type")
    if kind not in _KINDS:
        yield unsupported(f"{path}.type", kind, _TYPES)
    given = [key for key in _KINDS.values() if metric.get(key) is not None]
    if given:
        yield from _SOURCES[given[0]](metric[given[0]], f"{path}.{given[0]}")
        target = metric[given[0]].get("target") or {}
        yield from _TARGET(target, f"{path}.{given[0]}.target")
        yield from _one_target(given[0], target, f"{path}.{given[0]}.target")
    expected = _KINDS.get(kind, "")
    if expected and expected not in given:
        yield required(f"{path}.{expected}", "must populate information for the given metric source")
    if len(given) != 1:
        for key in given:
            if key != expected:
                yield forbidden(f"{path}.{key}", "must populate the given metric source only")


def _version(version: str, path: str) -> Iterator[Cause]:
    if version.count("/") > 1:
        yield invalid(path, version, f"unexpected GroupVersion string: {version}")


def _target_type(kind: str, path: str) -> Iterator[Cause]:
    if not kind:
        yield required(path, "must specify a metric target type")
    if kind not in ("Utilization", "Value", "AverageValue"):
        yield invalid(path, kind, "must be either Utilization, Value, or AverageValue")


def _signed(lowest: int, text: str) -> Check:
    """A quantity whose sign is at least this."""
    return lambda value, path: () if Quantity.parse(value).sign >= lowest else (invalid(path, value, text),)


def _at(field: str) -> tuple[Row, ...]:
    """The rules of a reference to an object in this field."""
    return need(f"{field}.kind", _SEGMENT), need(f"{field}.name", _SEGMENT), given(f"{field}.apiVersion", _version)


_SEGMENT = valid(segment_faults)
_METRIC_NAME = rules(need("metric.name", _SEGMENT, text="must specify a metric name"))
_NO_RESOURCE = "must specify a resource name"
_SOURCES = {
    "object": rules(*_at("describedObject"), _METRIC_NAME),
    "external": _METRIC_NAME,
    "pods": _METRIC_NAME,
    "resource": rules(need("name", text=_NO_RESOURCE)),
    "containerResource": rules(
        need("name", container_resource_name, text=_NO_RESOURCE),
        need("container", label, text="must specify a container"),
    ),
}
_TARGET = rules(
    always("type", _target_type),
    present("value", _signed(1, "must be positive")),
    present("averageValue", _signed(1, "must be positive")),
    present("averageUtilization", ranged(1, inf, "must be greater than 0")),
)
_POSITIVE = ranged(1, inf, "must be greater than zero")
_POLICY = rules(
    always("type", among("Percent", "Pods")),
    always("value", _POSITIVE, zero=0),
    always("periodSeconds", _POSITIVE, ranged(-inf, 1800, "must be less than or equal to 1800"), zero=0),
)
_SCALING = rules(
    present(
        "stabilizationWindowSeconds",
        ranged(0, inf, "must be greater than or equal to zero"),
        ranged(-inf, 3600, "must be less than or equal to 3600"),
    ),
    present("selectPolicy", among("Disabled", "Max", "Min")),
    need("policies", items(_POLICY), text="must specify at least one Policy"),
    present("tolerance", _signed(0, "must be greater than or equal to 0")),
)
_BEHAVIOR = rules(present("behavior.scaleUp", _SCALING), present("behavior.scaleDown", _SCALING))
_TARGET_REFERENCE = rules(*_at("scaleTargetRef"))
_STATUS = rules(present("currentReplicas", not_negative), present("desiredReplicas", not_negative))


def _one_target(kind: str, target: Document, path: str) -> Iterator[Cause]:
    value, average, share = (target.get(key) for key in ("value", "averageValue", "averageUtilization"))
    if kind == "pods" and average is None:
        yield required(f"{path}.averageValue", "must specify a positive target averageValue")
    if kind == "object" and value is None and average is None:
        yield required(f"{path}.averageValue", "must set either a target value or averageValue")
    if kind == "external" and value is None and average is None:
        why = "must set either a target value for metric or a per-pod target"
        yield required(f"{path}.averageValue", why)
    if kind == "external" and value is not None and average is not None:
        yield forbidden(f"{path}.value", "may not set both a target value for metric and a per-pod target")
    if kind in ("resource", "containerResource"):
        if share is None and average is None:
            why = "must set either a target raw value or a target utilization"
            yield required(f"{path}.averageUtilization", why)
        if share is not None and average is not None:
            yield forbidden(f"{path}.averageValue", "may not set both a target raw value and a target utilization")
