"""ResourceQuotas and LimitRanges.

Upstream: ValidateResourceQuota… and ValidateLimitRange of pkg/apis/core/validation/validation.go.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.model.label_selectors import label_key_faults
from seatrial.model.quantity import Quantity
from seatrial.store.field_errors import Struct, duplicate, forbidden, invalid, required
from seatrial.store.object_meta import IMMUTABLE
from seatrial.store.validation.go_values import go_struct
from seatrial.store.validation.quantities import (
    amount,
    container_resource_name,
    is_standard_quota,
    may_overcommit,
    quota_resource_name,
    resource_name,
)

_COMPUTE = {f"{prefix}{name}" for prefix in ("", "limits.", "requests.") for name in ("cpu", "memory")}
_PODS = _COMPUTE | {"pods"}
_SCOPES: dict[str, set[str]] = {
    "Terminating": _PODS,
    "NotTerminating": _PODS,
    "NotBestEffort": _PODS,
    "PriorityClass": _PODS,
    "CrossNamespacePodAffinity": _PODS,
    "BestEffort": {"pods"},
    "VolumeAttributesClass": {"persistentvolumeclaims", "requests.storage"},
}
_PAIRS = (("BestEffort", "NotBestEffort"), ("Terminating", "NotTerminating"))
_PRESENCE = ("BestEffort", "NotBestEffort", "Terminating", "NotTerminating", "CrossNamespacePodAffinity")
_EXISTS = (
    "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, "
    "ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
)
_TYPES = ("Pod", "Container", "PersistentVolumeClaim")


def quota_causes(document: Document) -> Iterator[Cause]:
    """Validation errors of a ResourceQuota."""
    spec = document.get("spec") or {}
    yield from _amounts(spec.get("hard"), "spec.hard")
    yield from _scopes(spec)
    if (selector := spec.get("scopeSelector")) is not None:
        yield from _scope_selector(selector, spec)


def quota_update_causes(document: Document, old: Document, subresource: str) -> Iterator[Cause]:
    """Validation errors of an update of a ResourceQuota."""
    if subresource == "status":
        status = document.get("status") or {}
        yield from _amounts(status.get("hard"), "status.hard")
        yield from _amounts(status.get("used"), "status.used")
        return
    yield from quota_causes(document)
    scopes, before = ((each.get("spec") or {}).get("scopes") for each in (document, old))
    if set(scopes or ()) != set(before or ()):
        yield invalid("spec.scopes", scopes, IMMUTABLE)


def _amounts(given: Document | None, path: str) -> Iterator[Cause]:
    for name, value in (given or {}).items():
        yield from quota_resource_name(name, f"{path}[{name}]")
        yield from amount(name, value, f"{path}[{name}]")


def _misapplied(scope: str, hard: Document) -> int:
    allowed = _SCOPES.get(scope)
    return sum(is_standard_quota(name) and allowed is not None and name not in allowed for name in hard)


def _scopes(spec: Document) -> Iterator[Cause]:
    scopes = spec.get("scopes") or []
    for scope in scopes:
        if scope not in _SCOPES:
            yield invalid("spec.scopes", scopes, "unsupported scope")
        if _misapplied(scope, spec.get("hard") or {}):
            yield invalid("spec.scopes", scopes, "unsupported scope applied to resource")
    if any(set(pair) <= set(scopes) for pair in _PAIRS):
        yield invalid("spec.scopes", scopes, "conflicting scopes")


def _scope_selector(selector: Document, spec: Document) -> Iterator[Cause]:
    path, requirements = "spec.scopeSelector.matchExpressions", selector.get("matchExpressions") or ()
    for requirement in requirements:
        scope, operator = requirement.get("scopeName", ""), requirement.get("operator", "")
        values = requirement.get("values") or []
        if scope not in _SCOPES:
            yield invalid(f"{path}.scopeName", scope, "unsupported scope")
        if _misapplied(scope, spec.get("hard") or {}):
            yield invalid(path, _shown(requirements), "unsupported scope applied to resource")
        if scope in _PRESENCE and operator != "Exists":
            yield invalid(f"{path}.operator", operator, _EXISTS)
        if operator in ("In", "NotIn"):
            if not values:
                why = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
                yield required(f"{path}.values", why)
        elif operator in ("Exists", "DoesNotExist"):
            if values:
                why = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
                yield invalid(f"{path}.values", values, why)
        else:
            yield invalid(f"{path}.operator", operator, "not a valid selector operator")
    named = {requirement.get("scopeName") for requirement in requirements}
    if any(set(pair) <= named for pair in _PAIRS):
        yield invalid(path, spec.get("scopes"), "conflicting scopes")


def _shown(requirements: Sequence[Document]) -> Struct:
    fields = ("scopeName", "operator", "values")
    return Struct({"MatchExpressions": [go_struct(each, fields, {"operator": ""}) for each in requirements]})


def limit_causes(document: Document) -> Iterator[Cause]:
    """Validation errors of a LimitRange."""
    seen: set[str] = set()
    for index, limit in enumerate((document.get("spec") or {}).get("limits") or ()):
        path, kind = f"spec.limits[{index}]", limit.get("type", "")
        faults = label_key_faults(kind)
        for fault in faults:
            yield invalid(f"{path}.type", kind, fault)
        if not faults and "/" not in kind and kind not in _TYPES:
            yield invalid(f"{path}.type", kind, "must be a standard limit type or fully qualified")
        if kind in seen:
            yield duplicate(f"{path}.type", kind)
        seen.add(kind)
        yield from _limit(limit, kind, path)


def _limit(limit: Document, kind: str, path: str) -> Iterator[Cause]:
    named = container_resource_name if kind in ("Pod", "Container") else resource_name
    parts: dict[str, dict[str, Quantity]] = {}
    for part in ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio"):
        given = limit.get(part) or {}
        if kind == "Pod" and part.startswith("default"):
            if given:
                yield forbidden(f"{path}.{part}", "may not be specified when `type` is 'Pod'")
            given = {}
        for name in given:
            yield from named(name, f"{path}.{part}[{name}]")
        parts[part] = {name: Quantity.parse(value) for name, value in given.items()}
    if kind == "PersistentVolumeClaim" and "storage" not in parts["min"] and "storage" not in parts["max"]:
        why = "either minimum or maximum storage value is required, but neither was provided"
        yield required(f"{path}.limits", why)
    for name in dict.fromkeys(name for given in parts.values() for name in given):
        yield from _bounds(name, {part: given.get(name) for part, given in parts.items()}, path)


def _bounds(name: str, given: dict[str, Quantity | None], path: str) -> Iterator[Cause]:
    order = (
        ("min", "max", "min", "min", "min value {0} is greater than max value {1}"),
        ("min", "defaultRequest", "defaultRequest", "defaultRequest",
         "min value {0} is greater than default request value {1}"),
        ("defaultRequest", "max", "defaultRequest", "defaultRequest",
         "default request value {0} is greater than max value {1}"),
        ("defaultRequest", "default", "defaultRequest", "defaultRequest",
         "default request value {0} is greater than default limit value {1}"),
        ("min", "default", "default", "min", "min value {0} is greater than default value {1}"),
        ("default", "max", "default", "max", "default value {0} is greater than max value {1}"),
    )  # fmt: skip
    for low, high, where, shown, why in order:
        first, second = given[low], given[high]
        if first is not None and second is not None and first > second:
            yield invalid(f"{path}.{where}[{name}]", str(given[shown]), why.format(first, second))
    yield from _ratio(given, f"{path}.maxLimitRequestRatio[{name}]")
    usual, asked = given["default"], given["defaultRequest"]
    if not may_overcommit(name) and usual is not None and asked is not None and usual != asked:
        why = f"default value {usual} must equal to defaultRequest value {asked} in {name}"
        yield invalid(f"{path}.defaultRequest[{name}]", str(asked), why)


def _ratio(given: dict[str, Quantity | None], path: str) -> Iterator[Cause]:
    ratio, low, high = given["maxLimitRequestRatio"], given["min"], given["max"]
    if ratio is None:
        return
    if ratio < Quantity.parse(1):
        yield invalid(path, str(ratio), f"ratio {ratio} is less than 1")
    if low is None or high is None:
        return
    numbers: list[Any] = [each.value() for each in (ratio, low, high)]
    if all(number < (2**63 - 1) // 1000 for number in numbers):
        numbers = [ratio.milli_value() / 1000, low.milli_value(), high.milli_value()]
    most = numbers[2] / numbers[1] if numbers[1] else float("inf")
    if numbers[0] > most:
        yield invalid(path, str(ratio), f"ratio {ratio} is greater than max/min = {most:f}")
