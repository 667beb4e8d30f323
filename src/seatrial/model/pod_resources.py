"""The resources that a pod's containers need at once: those that run together, or an init container if it needs more.

Init containers run one after the other before the containers; sidecars are those that stay. Upstream:
k8s.io/component-helpers/resource (AggregateContainerRequests, AggregateContainerLimits).
"""

from collections.abc import Callable, Mapping
from typing import Any

from seatrial.model.documents import Document
from seatrial.model.quantity import Quantity

Resources = dict[str, Quantity]
Needed = Callable[[Document], Resources]
"""What one container needs; the answer may be kept and is not changed."""


def parsed(resources: Mapping[str, Any] | None) -> Resources:
    """A resource list as numbers."""
    return {name: Quantity.parse(amount) for name, amount in (resources or {}).items()}


def container_resources(container: Document, part: str) -> Resources:
    """A container's `requests` or `limits`."""
    return parsed((container.get("resources") or {}).get(part))


def needed_at_once(spec: Document, needed: Needed, to_start: Needed | None = None) -> Resources:
    """The most that the containers of a pod need at a time, resource by resource.

    `to_start` gives the need of an init container that is no sidecar, where it differs from `needed`.
    """
    running: Resources = {}
    for container in spec.get("containers") or ():
        add(running, needed(container))
    sidecars: Resources = {}
    starting: Resources = {}
    for container in spec.get("initContainers") or ():
        if container.get("restartPolicy") == "Always":
            own = needed(container)
            add(running, own)
            add(sidecars, own)
            own = sidecars
        else:
            own = dict((to_start or needed)(container))
            add(own, sidecars)
        raise_to(starting, own)
    raise_to(running, starting)
    return running


def add(total: Resources, more: Mapping[str, Quantity]) -> None:
    for name, amount in more.items():
        total[name] = total[name] + amount if name in total else amount


def raise_to(total: Resources, least: Mapping[str, Quantity]) -> None:
    """Let a total be at least this."""
    for name, amount in least.items():
        if name not in total or amount > total[name]:
            total[name] = amount
