"""The NUMA topology of nodes: what Numatopology objects report, less what sessions have assigned since.

Upstream: pkg/scheduler/api/numa_info.go, node_info.go (RefreshNumaSchedulerInfoByCrd), cache/event_handlers.go.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from seatrial.model.documents import Document
from seatrial.model.quantity import Quantity, QuantityError

CPU_MANAGER, TOPOLOGY_MANAGER = "CPUManagerPolicy", "TopologyManagerPolicy"
Cpus = frozenset[int]
ResourceSets = dict[str, Cpus]
"""The free ids of each resource."""
_RESERVABLE = ("cpu", "memory", "ephemeral-storage")


class CpuInfo(NamedTuple):
    """Where a cpu is."""

    numa: int
    socket: int
    core: int


@dataclass(frozen=True, slots=True)
class NumatopoInfo:
    """The topology of one node."""

    policies: Mapping[str, str]
    free: Mapping[str, Cpus]
    cpus: Mapping[int, CpuInfo]
    reserved: Mapping[str, Quantity]

    @classmethod
    def read(cls, document: Document) -> "NumatopoInfo":
        spec = document.get("spec") or {}
        details = spec.get("cpuDetail") or {}
        return cls(
            policies=spec.get("policies") or {},
            free={name: _cpus(entry) for name, entry in (spec.get("numares") or {}).items()},
            cpus={_integer(key): _cpu_info(detail) for key, detail in details.items()},
            reserved=_reserved(spec.get("resReserved") or {}),
        )

    @property
    def numa_nodes(self) -> list[int]:
        return sorted({cpu.numa for cpu in self.cpus.values()})

    def has_more_than(self, newer: "NumatopoInfo") -> bool:
        """Whether a newer report has less of every resource (Compare)."""
        return all(len(cpus) > len(newer.free.get(name, ())) for name, cpus in self.free.items())


@dataclass(slots=True)
class _Node:
    reported: NumatopoInfo
    has_less: bool = False
    is_new: bool = True
    present: NumatopoInfo | None = None
    """What the scheduler goes by."""


class Numatopologies:
    """The topologies of all nodes, kept from one session to the next."""

    def __init__(self) -> None:
        self._nodes: dict[str, _Node] = {}

    def report(self, document: Document) -> None:
        """Takes in a Numatopology that was added or changed."""
        name, info = document["metadata"]["name"], NumatopoInfo.read(document)
        known = self._nodes.get(name)
        if known is None:
            self._nodes[name] = _Node(info)
        else:
            known.has_less = known.reported.has_more_than(info)
            known.reported, known.is_new = info, True

    def remove(self, name: str) -> None:
        """The Numatopology or the node is gone."""
        self._nodes.pop(name, None)

    def refresh(self) -> dict[str, NumatopoInfo]:
        """The topologies for a session. A report of more resources replaces what sessions have assigned."""
        for node in self._nodes.values():
            if node.present is None or (node.is_new and not node.has_less):
                node.present = node.reported
            elif node.is_new:
                free = dict(node.present.free)
                for name, cpus in node.reported.free.items():
                    if name not in free or len(free[name]) >= len(cpus):
                        free[name] = cpus
                node.present = replace(node.present, free=free)
            node.is_new = False
        return {name: node.present for name, node in self._nodes.items() if node.present is not None}

    def assign(self, sets: Mapping[str, ResourceSets]) -> None:
        """Takes away what a session has assigned, by node."""
        for name, taken in sets.items():
            node = self._nodes.get(name)
            if node is not None and node.present is not None:
                free = {key: cpus - taken.get(key, frozenset()) for key, cpus in node.present.free.items()}
                node.present = replace(node.present, free=free)


def parse_cpu_set(text: str) -> Cpus:
    """A list of cpus and ranges; one that cannot be read is empty."""
    found: set[int] = set()
    for part in text.split(",") if text else ():
        first, dash, last = part.partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()) or (dash and int(first) > int(last)):
            return frozenset()
        found.update(range(int(first), int(last if dash else first) + 1))
    return frozenset(found)


def _cpus(entry: Any) -> Cpus:
    return parse_cpu_set((entry or {}).get("allocatable") or "")


def _cpu_info(detail: Any) -> CpuInfo:
    given = detail or {}
    return CpuInfo(given.get("numa") or 0, given.get("socket") or 0, given.get("core") or 0)


def _reserved(given: Mapping[str, str]) -> dict[str, Quantity]:
    """What is kept back; one entry that cannot be read makes all of them count for nothing."""
    try:
        found = {name: Quantity.parse(text) for name, text in given.items()}
    except QuantityError:
        return {}
    return found if all(name in _RESERVABLE and found[name].sign >= 0 for name in found) else {}


def _integer(text: str) -> int:
    return int(text) if text.lstrip("+-").isdecimal() else 0
