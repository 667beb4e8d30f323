"""LimitRanger: default requests and limits of containers, and their allowed minimum and maximum.

Upstream: plugin/pkg/admission/limitranger.
"""

from collections.abc import Callable, Iterator
from typing import Final

from seatrial.model.documents import Document
from seatrial.model.pod_resources import Resources, container_resources, parsed
from seatrial.model.quantity import MAX_MILLI_VALUE, Quantity
from seatrial.store.admission.namespaced_reader import Reader, forbidden, joined
from seatrial.store.admission.resources import limit_range_sum
from seatrial.store.requests import Request

ANNOTATION: Final = "kubernetes.io/limit-ranger"
_NONE: Final = Quantity(0)
Constraint = Callable[[str, str, Quantity, Resources, Resources], str]


def fill_in_defaults(request: Request, reader: Reader) -> None:
    """Requests and limits of containers that set none, from the namespace's limit ranges."""
    if not _applies_to_pod(request):
        return
    for limit_range in reader.all(request.store, "v1", "LimitRange", request.namespace):
        requests: Document = {}
        limits: Document = {}
        for limit in (limit_range.get("spec") or {}).get("limits") or ():
            if limit.get("type") == "Container":
                requests.update(limit.get("defaultRequest") or {})
                limits.update(limit.get("default") or {})
        _merge(request.document, requests, limits)


def check_pod(request: Request, reader: Reader) -> None:
    """Forbidden where a pod or a container is outside the namespace's limits."""
    if not _applies_to_pod(request):
        return
    spec = request.document.get("spec") or {}
    for limit_range in reader.all(request.store, "v1", "LimitRange", request.namespace):
        faults = list(faults_of(limit_range, spec))
        if faults:
            raise forbidden(request, joined(faults))


def check_claim(request: Request, reader: Reader) -> None:
    """Forbidden where a claim requests less or more storage than the namespace allows."""
    if request.subresource or (request.old or {}).get("metadata", {}).get("deletionTimestamp"):
        return
    requests = parsed(((request.document.get("spec") or {}).get("resources") or {}).get("requests"))
    for limit_range in reader.all(request.store, "v1", "LimitRange", request.namespace):
        faults = []
        for limit in (limit_range.get("spec") or {}).get("limits") or ():
            if limit.get("type") != "PersistentVolumeClaim":
                continue
            for name, amount in parsed(limit.get("min")).items():
                faults.append(_minimum("PersistentVolumeClaim", name, amount, requests, {}))
            for name, amount in parsed(limit.get("max")).items():
                faults.append(_maximum_request("PersistentVolumeClaim", name, amount, requests))
        if faults := [fault for fault in faults if fault]:
            raise forbidden(request, joined(faults))


def _applies_to_pod(request: Request) -> bool:
    if (request.old or {}).get("metadata", {}).get("deletionTimestamp"):
        return False
    if request.subresource == "resize":
        return request.operation == "UPDATE"
    return request.operation == "CREATE" and not request.subresource


def _merge(pod: Document, requests: Document, limits: Document) -> None:
    said: list[str] = []
    spec = pod.get("spec") or {}
    for field, what in (("containers", "container"), ("initContainers", "init container")):
        for container in spec.get(field) or ():
            for part, defaults in (("requests", requests), ("limits", limits)):
                resources = container.get("resources") or {}
                given = resources.get(part) or {}
                missing = sorted(name for name in defaults if name not in given)
                if missing:
                    given = {**given, **{name: defaults[name] for name in missing}}
                    container["resources"] = {**resources, part: given}
                    said.append(f"{', '.join(missing)} {part[:-1]} for {what} {container.get('name')}")
    if said:
        metadata = pod["metadata"]
        text = "LimitRanger plugin set: " + "; ".join(said)
        metadata["annotations"] = {**(metadata.get("annotations") or {}), ANNOTATION: text}


def faults_of(limit_range: Document, spec: Document) -> Iterator[str]:
    """The parts of a pod's spec that are outside a limit range."""
    for limit in (limit_range.get("spec") or {}).get("limits") or ():
        kind = limit.get("type")
        if kind == "Container":
            for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
                asked = (container_resources(container, "requests"), container_resources(container, "limits"))
                yield from _faults(limit, "Container", *asked)
        elif kind == "Pod":
            yield from _faults(limit, "Pod", limit_range_sum(spec, "requests"), limit_range_sum(spec, "limits"))


def _faults(limit: Document, kind: str, requests: Resources, limits: Resources) -> Iterator[str]:
    for field, constraint in _CONSTRAINTS:
        for name, enforced in sorted(parsed(limit.get(field)).items()):
            if fault := constraint(kind, name, enforced, requests, limits):
                yield fault


def _comparable(*amounts: Quantity) -> list[int]:
    """The amounts in thousandths, or whole where those would overflow."""
    values = [amount.value() for amount in amounts]
    if all(value <= MAX_MILLI_VALUE for value in values):
        return [amount.milli_value() for amount in amounts]
    return values


def _minimum(kind: str, name: str, enforced: Quantity, requests: Resources, limits: Resources) -> str:
    text = f"minimum {name} usage per {kind} is {enforced}"
    request, limit = requests.get(name), limits.get(name)
    asked, capped, least = _comparable(request or _NONE, limit or _NONE, enforced)
    if request is None:
        return f"{text}.  No request is specified"
    if asked < least:
        return f"{text}, but request is {request}"
    return f"{text}, but limit is {limit}" if limit is not None and capped < least else ""


def _maximum(kind: str, name: str, enforced: Quantity, requests: Resources, limits: Resources) -> str:
    text = f"maximum {name} usage per {kind} is {enforced}"
    request, limit = requests.get(name), limits.get(name)
    asked, capped, most = _comparable(request or _NONE, limit or _NONE, enforced)
    if limit is None:
        return f"{text}.  No limit is specified"
    if capped > most:
        return f"{text}, but limit is {limit}"
    return f"{text}, but request is {request}" if request is not None and asked > most else ""


def _maximum_request(kind: str, name: str, enforced: Quantity, requests: Resources) -> str:
    text = f"maximum {name} usage per {kind} is {enforced}"
    request = requests.get(name)
    if request is None:
        return f"{text}.  No request is specified"
    asked, most = _comparable(request, enforced)
    return f"{text}, but request is {request}" if asked > most else ""


def _ratio(kind: str, name: str, enforced: Quantity, requests: Resources, limits: Resources) -> str:
    text = f"{name} max limit to request ratio per {kind} is {enforced}"
    asked, capped, _ = _comparable(requests.get(name) or _NONE, limits.get(name) or _NONE, enforced)
    if not asked:
        return f"{text}, but no request is specified or request is 0"
    if not capped:
        return f"{text}, but no limit is specified or limit is 0"
    ratio = float(capped) / float(asked)
    most = float(enforced.milli_value()) if enforced.value() <= MAX_MILLI_VALUE else float(enforced.value())
    observed = ratio * 1000 if enforced.value() <= MAX_MILLI_VALUE else ratio
    return f"{text}, but provided ratio is {ratio:f}" if observed > most else ""


_CONSTRAINTS: Final[tuple[tuple[str, Constraint], ...]] = (
    ("min", _minimum),
    ("max", _maximum),
    ("maxLimitRequestRatio", _ratio),
)
