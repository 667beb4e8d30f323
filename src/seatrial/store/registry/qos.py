"""The QoS class of a pod, from the requests and limits of its containers.

Upstream: pkg/apis/core/helper/qos/qos.go.
"""

from functools import lru_cache
from typing import Any

from seatrial.model.documents import Document
from seatrial.model.quantity import Quantity, QuantityError

COMPUTE = ("cpu", "memory")
Amount = str | int | float | None
Asked = tuple[tuple[Amount, ...], tuple[Amount, ...]]
"""Requests and limits of one container, each of cpu and memory."""


def quality_of_service(spec: Document) -> str:
    """Guaranteed, Burstable or BestEffort."""
    whole = spec.get("resources")
    if whole is not None:
        return _class_of((_asked(whole),), whole=True)
    containers = (*(spec.get("containers") or ()), *(spec.get("initContainers") or ()))
    return _class_of(tuple([_asked(container.get("resources") or {}) for container in containers]), whole=False)


def _asked(resources: Document) -> Asked:
    requests, limits = resources.get("requests") or {}, resources.get("limits") or {}
    return (requests.get("cpu"), requests.get("memory")), (limits.get("cpu"), limits.get("memory"))


@lru_cache(4096)
def _class_of(containers: tuple[Asked, ...], *, whole: bool) -> str:
    """Cached: pods are made from few templates, so the same arguments recur."""
    requests: dict[str, Quantity] = {}
    limits: dict[str, Quantity] = {}
    guaranteed = True
    for requested, limited in containers:
        _add(requests, requested)
        complete = _add(limits, limited) == len(COMPUTE)
        guaranteed = guaranteed and (complete or (whole and not any(limited)))
    if not requests and not limits:
        return "BestEffort"
    return "Guaranteed" if guaranteed and requests == limits else "Burstable"


def _add(total: dict[str, Quantity], amounts: tuple[Amount, ...]) -> int:
    """Add the amounts of cpu and memory; returns how many of the two are set."""
    found = 0
    for name, value in zip(COMPUTE, amounts, strict=True):
        amount = _positive(value)
        if amount is not None:
            found += 1
            total[name] = total[name] + amount if name in total else amount
    return found


def _positive(value: Any) -> Quantity | None:
    if value is None:
        return None
    try:
        quantity = Quantity.parse(value)
    except QuantityError:
        return None
    return quantity if quantity.sign > 0 else None
