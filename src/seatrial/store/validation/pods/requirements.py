"""Validation of ResourceRequirements: requests, limits and claims of containers and of whole pods.

Upstream: validateResourceRequirements and validatePodResources of pkg/apis/core/validation/validation.go, and
k8s.io/component-helpers/resource/helpers.go for the sums.
"""

from collections.abc import Callable, Collection, Iterable, Iterator

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.model.pod_resources import container_resources, needed_at_once
from seatrial.model.quantity import Quantity
from seatrial.store.field_errors import duplicate, forbidden, invalid, required
from seatrial.store.validation.formats import label
from seatrial.store.validation.quantities import (
    COMPUTE,
    amount,
    container_resource_name,
    huge_amount,
    is_huge,
    may_overcommit,
    pod_resource_name,
)

NameRule = Callable[[str, str], Iterable[Cause]]


def container_requirements(requirements: Document, claims: Collection[str], path: str) -> Iterator[Cause]:
    """Validate the resources of one container."""
    return _requirements(requirements, container_resource_name, claims, path)


def _requirements(requirements: Document, name_rule: NameRule, claims: Collection[str], path: str) -> Iterator[Cause]:
    limits, requests = requirements.get("limits") or {}, requirements.get("requests") or {}
    for name, value in limits.items():
        where = f"{path}.limits[{name}]"
        yield from name_rule(name, where)
        yield from amount(name, value, where)
        if is_huge(name):
            yield from huge_amount(name, value, where)
    for name, value in requests.items():
        where = f"{path}.requests[{name}]"
        yield from name_rule(name, where)
        yield from amount(name, value, where)
        yield from _within(name, value, limits.get(name), path)
        if is_huge(name):
            yield from huge_amount(name, value, where)
    names = limits.keys() | requests.keys()
    if any(map(is_huge, names)) and not names & COMPUTE:
        yield forbidden(path, "HugePages require cpu or memory")
    if given := requirements.get("claims"):
        yield from _claims(given, claims, f"{path}.claims")


def _within(name: str, value: str, limit: str | None, path: str) -> Iterator[Cause]:
    if limit is None:
        if not may_overcommit(name):
            yield required(f"{path}.limits", "Limit must be set for non overcommitable resources")
        return
    order = Quantity.parse(value).compare(Quantity.parse(limit))
    if order and not may_overcommit(name):
        yield invalid(f"{path}.requests", value, f"must be equal to {name} limit of {limit}")
    elif order > 0:
        yield invalid(f"{path}.requests", value, f"must be less than or equal to {name} limit of {limit}")


def _claims(given: list[Document], known: Collection[str], path: str) -> Iterator[Cause]:
    seen: set[str] = set()
    for index, claim in enumerate(given):
        where, name, request = f"{path}[{index}]", claim.get("name", ""), claim.get("request", "")
        if not name:
            yield required(where)
            continue
        if name in seen:
            yield duplicate(where, name)
        else:
            if request:
                yield from label(request, f"{where}.request")
            key = f"{name}/{request}" if request else name
            if key in seen:
                yield duplicate(where, key)
            elif not request:
                for other in seen:
                    if other.partition("/")[0] == name and "/" in other:
                        yield duplicate(where, name)
            seen.add(key)
        if name not in known:
            why = f": {', '.join(sorted(known))}" if known else " which is empty"
            text = f'Not found: "{name}": must be one of the names in pod.spec.resourceClaims{why}'
            yield Cause(where, text, "FieldValueNotFound")


def pod_requirements(spec: Document, path: str) -> Iterator[Cause]:
    """Pod-level resources must cover those of the containers."""
    requirements, where = spec["resources"], f"{path}.resources"
    if (spec.get("os") or {}).get("name") == "windows":
        yield forbidden(where, "may not be set for a windows pod")
        return
    if requirements.get("claims"):
        yield forbidden(f"{where}.claims", "claims may not be set for Resources at pod-level")
    yield from _requirements(requirements, pod_resource_name, _claim_names(spec), where)
    yield from _covers(spec, requirements, where)


def _claim_names(spec: Document) -> set[str]:
    return {claim.get("name", "") for claim in spec.get("resourceClaims") or ()} - {""}


def _covers(spec: Document, requirements: Document, path: str) -> Iterator[Cause]:
    requests, limits = requirements.get("requests") or {}, requirements.get("limits") or {}
    for name, total in aggregate(spec, "requests").items():
        if name in requests and total > Quantity.parse(requests[name]):
            why = f"must be greater than or equal to aggregate container requests of {total}"
            yield invalid(f"{path}.requests[{name}]", requests[name], why)
    for name, total in aggregate(spec, "limits").items():
        if is_huge(name) and name in limits and total > Quantity.parse(limits[name]):
            why = f"must be greater than or equal to aggregate container limits of {total}"
            yield invalid(f"{path}.limits[{name}]", limits[name], why)
    for index, container in enumerate(spec.get("containers") or ()):
        for name, value in ((container.get("resources") or {}).get("limits") or {}).items():
            if name in limits and Quantity.parse(value) > Quantity.parse(limits[name]):
                where = f"{path}.containers[{index}][{name}].limits"
                yield invalid(where, value, f"must be less than or equal to pod limits of {limits[name]}")


def aggregate(spec: Document, kind: str) -> dict[str, Quantity]:
    """The largest concurrent requests of a pod's containers: init containers run before, sidecars throughout."""
    return needed_at_once(spec, lambda container: container_resources(container, kind))
