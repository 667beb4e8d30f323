"""Total requests and limits of a pod: the sum of its containers, with init containers, sidecars and overhead.

Upstream: k8s.io/component-helpers/resource (PodRequests, PodLimits) and the plainer sums of LimitRanger.
"""

from collections.abc import Callable
from typing import Final

from seatrial.model.documents import Document
from seatrial.model.pod_resources import (
    Resources,
    container_resources,
    needed_at_once,
    parsed,
    raise_to,
)

_POD_LEVEL: Final = frozenset({"cpu", "memory"})
_HUGE_PAGES: Final = "hugepages-"


def pod_sum(spec: Document, part: str, of: Callable[[Document, str], Resources] = container_resources) -> Resources:
    """The sum over containers, and at least what each init container needs while it runs."""
    return needed_at_once(spec, lambda container: of(container, part))


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
            raise_to(actual, parsed(status.get("allocatedResources")))
        if not infeasible:
            raise_to(actual, own)
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


def _is_pod_level(name: str) -> bool:
    return name in _POD_LEVEL or name.startswith(_HUGE_PAGES)


def _statuses(pod: Document) -> dict[str, Document]:
    status = pod.get("status") or {}
    every = (*(status.get("containerStatuses") or ()), *(status.get("initContainerStatuses") or ()))
    return {str(item.get("name")): item for item in every}


def _resize_is_infeasible(pod: Document) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return any(c.get("type") == "PodResizePending" and c.get("reason") == "Infeasible" for c in conditions)
