"""Names and amounts of resources: which there are, which must be whole, which may be overcommitted.

Upstream: pkg/apis/core/helper/helpers.go and the resource rules of pkg/apis/core/validation/validation.go.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.model.label_selectors import label_key_faults
from seatrial.model.quantity import Quantity, QuantityError
from seatrial.store.field_errors import invalid, unsupported
from seatrial.store.validation.formats import NEGATIVE, NOT_POSITIVE

HUGE_PAGES = "hugepages-"
_HUGE = (HUGE_PAGES, "requests.hugepages-")
COMPUTE = frozenset({"cpu", "memory"})
CONTAINER_RESOURCES = frozenset({"cpu", "memory", "ephemeral-storage"})
COUNTED = frozenset(
    {
        "pods",
        "resourcequotas",
        "services",
        "replicationcontrollers",
        "secrets",
        "configmaps",
        "persistentvolumeclaims",
        "services.nodeports",
        "services.loadbalancers",
    }
)
QUOTA_RESOURCES = (
    COUNTED
    | CONTAINER_RESOURCES
    | {f"{kind}.{name}" for kind in ("requests", "limits") for name in CONTAINER_RESOURCES}
    | {"requests.storage"}
)
RESOURCES = QUOTA_RESOURCES | {"storage"}


def is_huge(name: str) -> bool:
    """Whether a resource is huge pages of some size."""
    return name.startswith(HUGE_PAGES)


def is_native(name: str) -> bool:
    """Whether a resource is Kubernetes' own."""
    return "/" not in name or "kubernetes.io/" in name


@lru_cache(1024)
def is_extended(name: str) -> bool:
    """Whether a resource is one that a device plugin or driver offers."""
    return not is_native(name) and not name.startswith("requests.") and not label_key_faults(f"requests.{name}")


def may_overcommit(name: str) -> bool:
    """Whether a request may be below its limit."""
    return is_native(name) and not is_huge(name)


def is_standard_quota(name: str) -> bool:
    """Whether a quota may speak of this resource by its short name."""
    return name in QUOTA_RESOURCES or name.startswith(_HUGE)


def resource_name(name: str, path: str) -> Iterator[Cause]:
    """A resource that may be counted somewhere."""
    faults = label_key_faults(name)
    for fault in faults:
        yield invalid(path, name, fault)
    if not faults and "/" not in name and name not in RESOURCES and not name.startswith(_HUGE):
        yield invalid(path, name, "must be a standard resource type or fully qualified")


@lru_cache(1024)
def container_resource_name(name: str, path: str) -> tuple[Cause, ...]:
    """A resource that a container may request."""
    found = list(resource_name(name, path))
    if "/" not in name:
        if name not in CONTAINER_RESOURCES and not is_huge(name):
            found.append(invalid(path, name, "must be a standard resource for containers"))
    elif not is_native(name) and not is_extended(name):
        found.append(invalid(path, name, "doesn't follow extended resource name standard"))
    return tuple(found)


def pod_resource_name(name: str, path: str) -> Iterator[Cause]:
    """A resource that a pod may request at pod level."""
    wrong = list(resource_name(name, path))
    yield from wrong
    if not wrong and name not in COMPUTE and not is_huge(name):
        yield unsupported(path, name, ("cpu", "hugepages-", "memory"))


def quota_resource_name(name: str, path: str) -> Iterator[Cause]:
    """A resource that a quota may limit."""
    yield from resource_name(name, path)
    if "/" not in name and not is_standard_quota(name):
        yield invalid(path, name, "must be a standard resource for quota")


@lru_cache(4096)
def amount_faults(name: str, value: str) -> tuple[str, ...]:
    """Errors for a resource that cannot have this amount."""
    quantity = Quantity.parse(value)
    negative = (NEGATIVE,) if quantity.sign < 0 else ()
    if (name in COUNTED or is_extended(name)) and quantity.milli_value() % 1000:
        return (*negative, "must be an integer")
    return negative


def amount(name: str, value: str, path: str) -> Iterable[Cause]:
    """How much of a resource there is."""
    found = amount_faults(name, value)
    return [invalid(path, value, fault) for fault in found] if found else ()


def basic_amount(value: str, path: str) -> Iterator[Cause]:
    """An amount that is not negative."""
    number = Quantity.parse(value).value()
    if number < 0:
        yield invalid(path, number, "must be a valid resource quantity")


def positive_amount(value: str, path: str) -> Iterator[Cause]:
    """An amount above zero."""
    if Quantity.parse(value).sign <= 0:
        yield invalid(path, value, NOT_POSITIVE)


def huge_amount(name: str, value: str, path: str) -> Iterator[Cause]:
    """Huge pages come in whole pages."""
    try:
        page = Quantity.parse(name.removeprefix(HUGE_PAGES))
        whole = page.sign > 0 and page.milli_value() % 1000 == 0 and Quantity.parse(value).value() % page.value() == 0
    except QuantityError:
        whole = False
    if not whole:
        yield invalid(path, value, f"{value} is not positive integer multiple of {name}")


def amounts(amounts: Document | None, path: str) -> Iterator[Cause]:
    """Amounts by resource, each at `path[name]`."""
    for name, value in (amounts or {}).items():
        yield from amount(name, value, f"{path}[{name}]")
