"""The class of service of a pod, from what its containers ask for.

Upstream: pkg/apis/core/helper/qos/qos.go.
"""

from collections.abc import Mapping
from typing import Any

from seatrial.model.documents import Document
from seatrial.model.quantity import Quantity, QuantityError

Resources = dict[str, Quantity]
COMPUTE = ("cpu", "memory")


def quality_of_service(spec: Document) -> str:
    """Guaranteed, Burstable or BestEffort."""
    requests: Resources = {}
    limits: Resources = {}
    guaranteed = True
    whole = spec.get("resources")
    if whole is not None:
        _add(requests, whole.get("requests"))
        if whole.get("limits"):
            guaranteed = _add(limits, whole["limits"]) == len(COMPUTE)
    else:
        for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
            resources = container.get("resources") or {}
            _add(requests, resources.get("requests"))
            guaranteed = _add(limits, resources.get("limits")) == len(COMPUTE) and guaranteed
    if not requests and not limits:
        return "BestEffort"
    return "Guaranteed" if guaranteed and requests == limits else "Burstable"


def _add(total: Resources, resources: Mapping[str, Any] | None) -> int:
    """Add what is asked of cpu and memory; how many of the two were asked for."""
    found = 0
    for name in COMPUTE:
        amount = _positive((resources or {}).get(name))
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
