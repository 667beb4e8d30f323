"""What a pod asks for: the sum that kube-scheduler charges a node with.

Containers add up, init containers overlap in phases, sidecars stay; pod-level requests replace the aggregate; running
pods that are being resized are charged the largest of what they want, have and were promised. Sums are made of exact
quantities and rounded up once at the end, as upstream does.

Upstream: component-helpers/resource/helpers.go, pkg/scheduler/framework/types.go (Resource, CalculateResource).
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from seatrial.model.documents import Document
from seatrial.model.pod_resources import add, needed_at_once, parsed, raise_to
from seatrial.model.quantity import Quantity

CPU, MEMORY, EPHEMERAL, PODS = "cpu", "memory", "ephemeral-storage", "pods"
DEFAULT_MILLI_CPU = 100
DEFAULT_MEMORY = 200 * 1024 * 1024
HUGE_PAGES = "hugepages-"
ATTACHABLE = "attachable-volumes-"

ResourceList = dict[str, Quantity]
_NON_ZERO: ResourceList = {CPU: Quantity.parse(f"{DEFAULT_MILLI_CPU}m"), MEMORY: Quantity.parse(DEFAULT_MEMORY)}


@dataclass(frozen=True, slots=True)
class Requests:
    """Requests as whole numbers: cpu in thousandths, everything else in units.

    The non-zero figures assume 100m and 200Mi for each container that does not say; scores use them.
    """

    cpu: int = 0
    memory: int = 0
    ephemeral: int = 0
    scalars: Mapping[str, int] = field(default_factory=dict)
    nonzero_cpu: int = 0
    nonzero_memory: int = 0

    def of(self, resource: str) -> int:
        """The request for one resource by name."""
        if resource == CPU:
            return self.cpu
        if resource == MEMORY:
            return self.memory
        if resource == EPHEMERAL:
            return self.ephemeral
        return self.scalars.get(resource, 0)


def requests_of(spec: Document, status: Document | None, sums_first: bool = False) -> Requests:
    """The requests of a pod; with a status, in-place resizes under way are taken into account.

    A resize counts as the largest of what is wanted, had and promised: of each container, or of the sums.
    """
    requests = _pod_requests(spec, status, {}, sums_first)
    pod_level = (spec.get("resources") or {}).get("requests") or {}
    missing = _NON_ZERO
    if any(is_pod_level(name) for name in pod_level):
        missing = {name: quantity for name, quantity in _NON_ZERO.items() if name not in requests}
    non_zero = _pod_requests(spec, status, missing, sums_first) if missing else requests
    zero = Quantity.parse(0)
    return Requests(
        requests.get(CPU, zero).milli_value(),
        requests.get(MEMORY, zero).value(),
        requests.get(EPHEMERAL, zero).value(),
        {name: quantity.value() for name, quantity in sorted(requests.items()) if is_scalar(name)},
        non_zero.get(CPU, zero).milli_value(),
        non_zero.get(MEMORY, zero).value(),
    )


def request_list(spec: Document, *, pod_level: bool, assume_defaults: bool) -> ResourceList:
    """The requests of a spec by resource name, for scores: with or without pod-level ones and the non-zero defaults."""
    missing = _NON_ZERO if assume_defaults else {}
    if pod_level:
        return _pod_requests(spec, None, missing)
    total = _container_requests(spec, None, missing)
    add(total, parsed(spec.get("overhead")))
    return total


def amount_of(requests: ResourceList, resource: str) -> int:
    """A request as a whole number: cpu in thousandths, everything else in units."""
    quantity = requests.get(resource)
    if quantity is None:
        return 0
    return quantity.milli_value() if resource == CPU else quantity.value()


def allocatable_of(resources: Mapping[str, Any]) -> dict[str, int]:
    """A node's allocatable resources as whole numbers."""
    amounts: dict[str, int] = {}
    for name, text in resources.items():
        quantity = Quantity.parse(text)
        if name == CPU:
            amounts[name] = quantity.milli_value()
        elif name in (MEMORY, EPHEMERAL, PODS) or is_scalar(name):
            amounts[name] = quantity.value()
    return amounts


def is_scalar(name: str) -> bool:
    """Whether the scheduler counts the resource as a scalar: extended, huge pages, attachable volumes."""
    return is_extended(name) or name.startswith((HUGE_PAGES, ATTACHABLE)) or "kubernetes.io/" in name


def is_native(name: str) -> bool:
    """Whether the name belongs to Kubernetes itself."""
    return "/" not in name or "kubernetes.io/" in name


def is_extended(name: str) -> bool:
    """Whether the name is that of an extended resource: a domain of one's own."""
    if is_native(name) or name.startswith("requests."):
        return False
    return is_qualified(f"requests.{name}")


def is_qualified(name: str) -> bool:
    """A qualified name: an optional DNS prefix and a label name of at most 63 characters."""
    prefix, slash, rest = name.rpartition("/")
    if slash and (not prefix or len(prefix) > 253):
        return False
    plain = rest.replace("-", "a").replace("_", "a").replace(".", "a")
    return 0 < len(rest) <= 63 and plain.isalnum() and plain.isascii() and rest[0].isalnum() and rest[-1].isalnum()


def is_pod_level(name: str) -> bool:
    """Whether a resource can be requested for a pod as a whole."""
    return name in (CPU, MEMORY) or name.startswith(HUGE_PAGES)


def _pod_requests(
    spec: Document, status: Document | None, missing: ResourceList, sums_first: bool = False
) -> ResourceList:
    sums = _largest_sum if sums_first and status else _container_requests
    total = sums(spec, status, missing)
    pod_level = parsed((spec.get("resources") or {}).get("requests"))
    if any(is_pod_level(name) for name in pod_level):
        effective = pod_level
        if status and status.get("resources") is not None:
            actuated = parsed(status["resources"].get("requests"))
            effective = _effective(pod_level, actuated, parsed(status.get("allocatedResources")), status)
        names = effective if sums_first else pod_level
        total |= {name: effective.get(name, Quantity.parse(0)) for name in names if is_pod_level(name)}
    add(total, parsed(spec.get("overhead")))
    return total


def _container_requests(spec: Document, status: Document | None, missing: ResourceList) -> ResourceList:
    statuses = _container_statuses(status)
    return needed_at_once(
        spec,
        lambda container: _one_container(container, status, statuses, missing),
        to_start=lambda container: _one_container(container, status, {}, missing),
    )


def _largest_sum(spec: Document, status: Document | None, missing: ResourceList) -> ResourceList:
    """The largest of the sums of what containers want, have and were promised (AggregateContainerRequests)."""
    assert status is not None
    statuses, infeasible = _container_statuses(status), _is_infeasible(status)

    def promised(container: Document, entry: Document) -> Document | None:
        return entry.get("allocatedResources") or (None if infeasible else _wanted(container))

    def had(container: Document, entry: Document) -> Document | None:
        return (entry.get("resources") or {}).get("requests") or promised(container, entry)

    def summed(read: Callable[[Document, Document], Document | None]) -> ResourceList:
        def one(container: Document) -> ResourceList:
            found = parsed(read(container, statuses.get(container.get("name", "")) or {}))
            return found | {name: quantity for name, quantity in missing.items() if name not in found}

        return needed_at_once(spec, one)

    of_pod = (status.get("resources") or {}).get("requests"), status.get("allocatedResources")
    sums = [parsed(listed) for listed in of_pod] if all(of_pod) else [summed(had), summed(promised)]
    largest: ResourceList = {} if infeasible else summed(lambda container, _: _wanted(container))
    for one in sums:
        raise_to(largest, one)
    return largest


def _wanted(container: Document) -> Document | None:
    return (container.get("resources") or {}).get("requests")


def _container_statuses(status: Document | None) -> dict[str, Document]:
    if not status:
        return {}
    entries = (*(status.get("containerStatuses") or ()), *(status.get("initContainerStatuses") or ()))
    return {entry.get("name", ""): entry for entry in entries}


def _one_container(
    container: Document, status: Document | None, statuses: Mapping[str, Document], missing: ResourceList
) -> ResourceList:
    wanted = parsed((container.get("resources") or {}).get("requests"))
    entry = statuses.get(container.get("name", ""))
    if status and entry is not None and entry.get("resources") is not None:
        actuated = parsed(entry["resources"].get("requests"))
        wanted = _effective(wanted, actuated, parsed(entry.get("allocatedResources")), status)
    return wanted | {name: quantity for name, quantity in missing.items() if name not in wanted}


def _effective(wanted: ResourceList, actuated: ResourceList, allocated: ResourceList, status: Document) -> ResourceList:
    lists: Iterable[ResourceList] = (actuated, allocated) if _is_infeasible(status) else (wanted, actuated, allocated)
    largest: ResourceList = {}
    for one in lists:
        raise_to(largest, one)
    return largest


def _is_infeasible(status: Document) -> bool:
    for condition in status.get("conditions") or ():
        if condition.get("type") == "PodResizePending":
            return bool(condition.get("reason") == "Infeasible")
    return False
