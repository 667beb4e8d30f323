"""Lifecycles of nodes and pods from a timeline: creation, placement, deletion.

Amounts are whole numbers: cpu in thousandths of a core, memory and storage in bytes, everything else in pieces.
Steps are the scenario's numbers, and None is the step of something that did not happen.
"""

import sys
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

import msgspec

from seatrial.model.documents import Document, decode
from seatrial.model.quantity import quantity_milli, quantity_value

Amounts = Mapping[str, int]
Which = tuple[str, int]
"""One pod: `namespace/name`, and its number among the pods that had this name in turn, from 0."""
ASKING = ("overhead", "resources", "containers", "initContainers")
"""The parts of a spec that its requests depend on."""


@dataclass(slots=True)
class NodeLife:
    """A node from its coming to its going."""

    name: str
    labels: dict[str, str]
    allocatable: Amounts
    came: int
    went: int | None = None
    taints: tuple[str, ...] = ()
    """As `key=value:effect`; a cordoned node has the taint of the cordon."""
    came_at: int = 0
    """Virtual time in microseconds."""
    went_at: int | None = None
    from_row: int = field(default=0, repr=False)
    to_row: int | None = field(default=None, repr=False)

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
    is_per_node: bool = False
    """Whether it is a DaemonSet's pod or a mirror pod: it goes with its node, so it keeps no node in use."""
    from_row: int = field(default=0, repr=False)
    """The sequence number of its first entry; the next fields have those of its deletion, bind and end."""
    to_row: int | None = field(default=None, repr=False)
    bound_row: int | None = field(default=None, repr=False)
    ended_row: int | None = field(default=None, repr=False)
    written: Callable[[], str] = field(default=str, repr=False, compare=False)
    """The pod as it was last written, as JSON: it is decoded, and from a table read, where something of it is asked."""

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"

    @property
    def phase(self) -> str:
        return _last(self.written()).status.get("phase") or ""

    @property
    def scheduler(self) -> str:
        return _last(self.written()).spec.get("schedulerName") or ""

    @property
    def gates(self) -> tuple[str, ...]:
        return tuple(gate.get("name", "") for gate in _last(self.written()).spec.get("schedulingGates") or ())

    @property
    def message(self) -> str:
        """What the condition PodScheduled says while it is False."""
        return unscheduled_message(_last(self.written()).status)

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


class Lives:
    """Tells apart the pods that had one name in turn, by the rows in which they begin.

    The rows of a result name a pod, and a name may be used again once its pod is gone. An attempt belongs to exactly
    one of the pods of its name: to the latest that had begun by the row of the attempt.
    """

    def __init__(self, pods: Iterable[PodLife]) -> None:
        first: dict[str, int] = {}
        self._begun: dict[str, list[int]] = {}
        """Only of names that were used again: most are not."""
        for pod in pods:
            key = pod.key
            if first.setdefault(key, pod.from_row) != pod.from_row:
                self._begun.setdefault(key, [first[key]]).append(pod.from_row)

    def preempting(self, victim: PodLife) -> Which:
        """The pod that preempted another: of those of its name the one at the end of the victim."""
        # A victim that is not gone yet leaves for the last pod of the name.
        return self.at(victim.preempted_by, sys.maxsize if victim.to_row is None else victim.to_row)

    def at(self, key: str, row: int) -> Which:
        """The pod of a name in a row; the first one also before it begins, as a snapshot's pod has no entry then."""
        begun = self._begun.get(key)
        return (key, 0) if begun is None else (key, max(bisect_right(begun, row) - 1, 0))


class _Written(msgspec.Struct):
    spec: Document = {}
    status: Document = {}


@lru_cache(maxsize=1)
def _last(data: str) -> _Written:
    """A pod as it was last written; its properties are read one after the other."""
    return msgspec.json.decode(data, type=_Written) if data else _Written()


def unscheduled_message(status: Document) -> str:
    """What the condition PodScheduled of a pod says while it is False."""
    said = [each for each in status.get("conditions") or () if each.get("type") == "PodScheduled"]
    return (said[-1].get("message") or "") if said and said[-1].get("status") == "False" else ""


@lru_cache(maxsize=65536)
def amounts_of(resources: bytes) -> Amounts:
    """The resources of a node, from JSON (empty: missing)."""
    given = decode(resources) if resources else None
    return {name: _amount(name, value) for name, value in (given or {}).items()}


def _amount(resource: str, value: str) -> int:
    """A quantity in the unit of its resource."""
    return quantity_milli(value) if resource == "cpu" else quantity_value(value)


@lru_cache(maxsize=65536)
def requests_of_pod(*parts: bytes) -> Amounts:
    """The requests of a pod, with `pods` as 1, from the JSON of the parts `ASKING` of its spec (empty: missing)."""
    from seatrial.scheduler.cache import requests_of

    given = {name: decode(part) for name, part in zip(ASKING, parts, strict=True) if part}
    found = requests_of({name: value for name, value in given.items() if value}, None)
    amounts = {"cpu": found.cpu, "memory": found.memory, "ephemeral-storage": found.ephemeral, **found.scalars}
    return {name: amount for name, amount in amounts.items() if amount} | {"pods": 1}
