"""Lifecycles of nodes and pods from a timeline: creation, placement, deletion.

Amounts are whole numbers: cpu in thousandths of a core, memory and storage in bytes, everything else in pieces.
Steps are the scenario's numbers, and None is the step of something that did not happen.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from seatrial.model.documents import Document, decode, encode
from seatrial.model.quantity import quantity_milli, quantity_value
from seatrial.scheduler.cache import requests_of

Amounts = Mapping[str, int]


@dataclass(slots=True)
class NodeLife:
    """A node from its coming to its going."""

    name: str
    labels: dict[str, str]
    allocatable: Amounts
    came: int
    went: int | None = None

    def is_there(self, step: int) -> bool:
        """Whether the node exists at the end of a step."""
        return self.came <= step and (self.went is None or self.went > step)


@dataclass(slots=True)
class PodLife:
    """A pod from its creation to its end."""

    namespace: str
    name: str
    owner: str
    labels: dict[str, str]
    requests: Amounts
    priority: int
    created: int
    created_at: int
    bound: int | None = None
    bound_at: int | None = None
    node: str = ""
    ended: int | None = None
    preempted: int | None = None
    preempted_by: str = ""
    attempts: int = 0
    tried: bool = field(default=False)
    brought: frozenset[str] = frozenset()
    """Which of created, bound and ended a snapshot brought: that is no work of the run."""
    deleted: int | None = None
    deleted_by: str = ""
    """The writer of the deletion, where the result tells it."""
    phase: str = ""
    scheduler: str = ""
    gates: tuple[str, ...] = ()
    message: str = ""
    """What the condition PodScheduled says while it is False."""
    is_per_node: bool = False
    """Whether it is a DaemonSet's pod or a mirror pod: it goes with its node, so it keeps no node in use."""

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"

    def is_on_node(self, step: int) -> bool:
        """Whether the pod holds its node at the end of a step."""
        return self.bound is not None and self.bound <= step and (self.ended is None or self.ended > step)

    def uses_node(self, step: int) -> bool:
        """Whether the pod is a reason not to switch its node off at the end of a step."""
        return self.is_on_node(step) and not self.is_per_node

    def is_waiting(self, step: int) -> bool:
        """Whether the pod is there and without a node at the end of a step."""
        if self.created > step or (self.bound is not None and self.bound <= step):
            return False
        return self.ended is None or self.ended > step


def allocatable_of(node: Document) -> Amounts:
    """What pods can have of a node."""
    status = node.get("status") or {}
    source = status.get("allocatable") or status.get("capacity") or {}
    return {name: amount_of(name, value) for name, value in source.items()}


def amount_of(resource: str, value: str) -> int:
    """A quantity in the unit of its resource."""
    return quantity_milli(value) if resource == "cpu" else quantity_value(value)


def requests_of_pod(pod: Document) -> Amounts:
    """The requests of a pod, with `pods` as 1."""
    return _requests(encode(_asking(pod.get("spec") or {})))


def _asking(spec: Document) -> Document:
    """The parts of a spec that its requests depend on."""
    kept = {"overhead": spec.get("overhead"), "resources": spec.get("resources")}
    for part in ("containers", "initContainers"):
        kept[part] = [
            {"name": c.get("name", ""), "resources": c.get("resources"), "restartPolicy": c.get("restartPolicy")}
            for c in spec.get(part) or []
        ]
    return {name: value for name, value in kept.items() if value}


@lru_cache(maxsize=65536)
def _requests(data: bytes) -> Amounts:
    found = requests_of(decode(data), None)
    amounts = {"cpu": found.cpu, "memory": found.memory, "ephemeral-storage": found.ephemeral, **found.scalars}
    return {name: amount for name, amount in amounts.items() if amount} | {"pods": 1}
