"""What a pod asks for as a whole: its containers together, with init containers, sidecars and overhead.

Upstream: k8s.io/component-helpers/resource (PodRequests, PodLimits) and the plainer sums of LimitRanger.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from seatrial.model.documents import Document
from seatrial.model.quantity import Quantity

Resources = dict[str, Quantity]
_POD_LEVEL: Final = frozenset({"cpu", "memory"})
_HUGE_PAGES: Final = "hugepages-"


def parsed(resources: Mapping[str, Any] | None) -> Resources:
    """A resource list as numbers."""
    return {name: Quantity.parse(amount) for name, amount in (resources or {}).items()}


def container_resources(container: Document, part: str) -> Resources:
    """A container's `requests` or `limits`."""
    return parsed((container.get("resources") or {}).get(part))


def pod_sum(spec: Document, part: str, of: Callable[[Document, str], Resources] = container_resources) -> Resources:
    """The sum over containers, and at least what each init container needs while it runs."""
    total: Resources = {}
    for container in spec.get("containers") or ():
        add(total, of(container, part))
    sidecars: Resources = {}
    starting: Resources = {}
    for container in spec.get("initContainers") or ():
        needed = of(container, part)
        if container.get("restartPolicy") == "Always":
            add(total, needed)
            add(sidecars, needed)
            needed = dict(sidecars)
        else:
            add(needed, sidecars)
        _raise_to(starting, needed)
    _raise_to(total, starting)
    return total


def limit_range_sum(spec: Document, part: str) -> Resources:
    """A pod's total as LimitRanger sees it: what is set for the whole pod wins, overhead does not count."""
    total = pod_sum(spec, part)
    whole = parsed((spec.get("resources") or {}).get(part))
    total.update((name, amount) for name, amount in whole.items() if name in _POD_LEVEL)
    return total


def charged(pod: Document) -> tuple[Resources, Resources]:
    """Requests and limits that a quota charges for a pod."""
    spec = pod.get("spec") or {}
    statuses = _statuses(pod)
    infeasible = _resize_is_infeasible(pod)

    def effective(container: Document, part: str) -> Resources:
        own = container_resources(container, part)
        status = statuses.get(str(container.get("name")))
        if status is None or status.get("resources") is None:
            return own
        actual = parsed(status["resources"].get(part))
        if part == "requests":
            _raise_to(actual, parsed(status.get("allocatedResources")))
        if not infeasible:
            _raise_to(actual, own)
        return actual

    requests, limits = pod_sum(spec, "requests", effective), pod_sum(spec, "limits", effective)
    whole = spec.get("resources") or {}
    for total, part in ((requests, "requests"), (limits, "limits")):
        total.update((name, amount) for name, amount in parsed(whole.get(part)).items() if _is_pod_level(name))
    for name, amount in parsed(spec.get("overhead")).items():
        requests[name] = requests[name] + amount if name in requests else amount
        if limits.get(name):
            limits[name] = limits[name] + amount
    return requests, limits


def has_pod_level_resources(spec: Document) -> bool:
    """Whether a pod sets resources for itself as a whole."""
    whole = spec.get("resources") or {}
    return any(_is_pod_level(name) for part in ("requests", "limits") for name in whole.get(part) or ())


def add(total: Resources, more: Mapping[str, Quantity]) -> None:
    for name, amount in more.items():
        total[name] = total[name] + amount if name in total else amount


def _raise_to(total: Resources, least: Mapping[str, Quantity]) -> None:
    for name, amount in least.items():
        if name not in total or amount > total[name]:
            total[name] = amount


def _is_pod_level(name: str) -> bool:
    return name in _POD_LEVEL or name.startswith(_HUGE_PAGES)


def _statuses(pod: Document) -> dict[str, Document]:
    status = pod.get("status") or {}
    every = (*(status.get("containerStatuses") or ()), *(status.get("initContainerStatuses") or ()))
    return {str(item.get("name")): item for item in every}


def _resize_is_infeasible(pod: Document) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return any(c.get("type") == "PodResizePending" and c.get("reason") == "Infeasible" for c in conditions)
