"""HorizontalPodAutoscalers: bounds, metrics and the pace of scaling.

Upstream: pkg/apis/autoscaling/validation/validation.go.
"""

from collections.abc import Iterator, Sequence

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.model.quantity import Quantity
from seatrial.store.field_errors import forbidden, invalid, required, unsupported
from seatrial.store.object_meta import segment_faults
from seatrial.store.validation.formats import each, label, not_negative
from seatrial.store.validation.quantities import container_resource_name

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
    yield from _reference(target, "spec.scaleTargetRef")
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
    for key in ("scaleUp", "scaleDown"):
        if (rules := (spec.get("behavior") or {}).get(key)) is not None:
            yield from _rules(rules, f"spec.behavior.{key}")


def update_causes(document: Document, old: Document, subresource: str) -> Iterator[Cause]:
    """Validation errors of an update of a HorizontalPodAutoscaler."""
    if subresource == "status":
        status = document.get("status") or {}
        for key in ("currentReplicas", "desiredReplicas"):
            yield from not_negative(status.get(key), f"status.{key}")
    elif document.get("spec") != old.get("spec"):
        yield from _spec(document.get("spec") or {}, old.get("spec") or {})


def _reference(reference: Document, path: str) -> Iterator[Cause]:
    for key in ("kind", "name"):
        if not reference.get(key):
            yield required(f"{path}.{key}")
        else:
            yield from each(segment_faults, reference[key], f"{path}.{key}")
    version = reference.get("apiVersion", "")
    if version.count("/") > 1:
        yield invalid(f"{path}.apiVersion", version, f"unexpected GroupVersion string: {version}")


def _metric(metric: Document, path: str) -> Iterator[Cause]:
    kind = metric.get("type", "")
    if not kind:
        yield required(f"{path}.type", "must specify a metric source type")
    if kind not in _KINDS:
        yield unsupported(f"{path}.type", kind, _TYPES)
    given = [key for key in _KINDS.values() if metric.get(key) is not None]
    if given:
        yield from _source(given[0], metric[given[0]], f"{path}.{given[0]}")
    expected = _KINDS.get(kind, "")
    if expected and expected not in given:
        yield required(f"{path}.{expected}", "must populate information for the given metric source")
    if len(given) != 1:
        for key in given:
            if key != expected:
                yield forbidden(f"{path}.{key}", "must populate the given metric source only")


def _source(kind: str, source: Document, path: str) -> Iterator[Cause]:
    target = source.get("target") or {}
    if kind == "object":
        yield from _reference(source.get("describedObject") or {}, f"{path}.describedObject")
    if kind in ("object", "external", "pods"):
        name = (source.get("metric") or {}).get("name", "")
        if not name:
            yield required(f"{path}.metric.name", "must specify a metric name")
        else:
            yield from each(segment_faults, name, f"{path}.metric.name")
    else:
        yield from _resource(kind, source, path)
    yield from _target(target, f"{path}.target")
    yield from _one_target(kind, target, f"{path}.target")


def _resource(kind: str, source: Document, path: str) -> Iterator[Cause]:
    name, container = source.get("name", ""), source.get("container", "")
    if not name:
        yield required(f"{path}.name", "must specify a resource name")
    elif kind == "containerResource":
        yield from container_resource_name(name, f"{path}.name")
    if kind == "containerResource":
        if not container:
            yield required(f"{path}.container", "must specify a container")
        else:
            yield from label(container, f"{path}.container")


def _target(target: Document, path: str) -> Iterator[Cause]:
    kind = target.get("type", "")
    if not kind:
        yield required(f"{path}.type", "must specify a metric target type")
    if kind not in ("Utilization", "Value", "AverageValue"):
        yield invalid(f"{path}.type", kind, "must be either Utilization, Value, or AverageValue")
    for key in ("value", "averageValue"):
        if target.get(key) is not None and Quantity.parse(target[key]).sign != 1:
            yield invalid(f"{path}.{key}", target[key], "must be positive")
    utilization = target.get("averageUtilization")
    if utilization is not None and utilization < 1:
        yield invalid(f"{path}.averageUtilization", utilization, "must be greater than 0")


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


def _rules(rules: Document, path: str) -> Iterator[Cause]:
    window, choice = rules.get("stabilizationWindowSeconds"), rules.get("selectPolicy")
    if window is not None and window < 0:
        yield invalid(f"{path}.stabilizationWindowSeconds", window, "must be greater than or equal to zero")
    if window is not None and window > 3600:
        yield invalid(f"{path}.stabilizationWindowSeconds", window, "must be less than or equal to 3600")
    if choice is not None and choice not in ("Max", "Min", "Disabled"):
        yield unsupported(f"{path}.selectPolicy", choice, ("Disabled", "Max", "Min"))
    yield from _policies(rules.get("policies") or (), f"{path}.policies")
    tolerance = rules.get("tolerance")
    if tolerance is not None and Quantity.parse(tolerance).sign < 0:
        yield invalid(f"{path}.tolerance", tolerance, "must be greater than or equal to 0")


def _policies(policies: Sequence[Document], path: str) -> Iterator[Cause]:
    if not policies:
        yield required(path, "must specify at least one Policy")
    for index, policy in enumerate(policies):
        where, kind = f"{path}[{index}]", policy.get("type", "")
        if kind not in ("Pods", "Percent"):
            yield unsupported(f"{where}.type", kind, ("Percent", "Pods"))
        for key in ("value", "periodSeconds"):
            if policy.get(key, 0) <= 0:
                yield invalid(f"{where}.{key}", policy.get(key, 0), "must be greater than zero")
        if policy.get("periodSeconds", 0) > 1800:
            yield invalid(f"{where}.periodSeconds", policy["periodSeconds"], "must be less than or equal to 1800")
