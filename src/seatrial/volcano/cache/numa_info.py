"""The NUMA topology of nodes: what Numatopology objects report, less what sessions have assigned since.

Upstream: pkg/scheduler/api/numa_info.go, node_info.go (RefreshNumaSchedulerInfoByCrd), cache/event_handlers.go.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from seatrial.model.documents import Document
from seatrial.model.quantity import Quantity, QuantityError

CPU_MANAGER, TOPOLOGY_MANAGER = "CPUManagerPolicy", "TopologyManagerPolicy"
Cpus = frozenset[int]
PodKey = tuple[str, str, str]
"""The uid, namespace and name of a pod."""
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
    pods: frozenset[str]
    """Uids, and namespaces with names, of the pods whose cpus the report tells."""

    @classmethod
    def read(cls, document: Document) -> "NumatopoInfo":
        spec = document.get("spec") or {}
        details = spec.get("cpuDetail") or {}
        return cls(
            policies=spec.get("policies") or {},
            free={name: _cpus(entry) for name, entry in (spec.get("numares") or {}).items()},
            cpus={_integer(key): _cpu_info(detail) for key, detail in details.items()},
            reserved=_reserved(spec.get("resReserved") or {}),
            pods=_pods(spec.get("podAllocations") or ()),
        )

    @property
    def numa_nodes(self) -> list[int]:
        return sorted({cpu.numa for cpu in self.cpus.values()})

    def knows(self, pod: PodKey) -> bool:
        """Whether the report says what the kubelet gave to a pod (CheckNumaPodAssigned)."""
        uid, namespace, name = pod
        return uid in self.pods or f"{namespace}/{name}" in self.pods


class Numatopologies:
    """The topologies of all nodes, and what sessions have assigned on them that no report shows yet."""

    def __init__(self) -> None:
        self._reports: dict[str, NumatopoInfo] = {}
        self._unassigned: dict[str, dict[PodKey, ResourceSets]] = {}
        """By node and pod."""

    def report(self, document: Document) -> None:
        """Takes in a Numatopology that was added or changed."""
        self._reports[document["metadata"]["name"]] = NumatopoInfo.read(document)

    def remove(self, name: str) -> None:
        """The Numatopology is gone."""
        self._reports.pop(name, None)

    def remove_node(self, name: str) -> None:
        """The node is gone."""
        self.remove(name)
        self._unassigned.pop(name, None)

    def remove_pod(self, uid: str) -> None:
        """A pod is gone."""
        for pods in self._unassigned.values():
            for key in [key for key in pods if key[0] == uid]:
                del pods[key]

    def refresh(self) -> dict[str, NumatopoInfo]:
        """The topologies for a session. As long as a report misses one pod of a node, all that was assigned counts."""
        found = {}
        for name, info in self._reports.items():
            pods = self._unassigned.get(name, {})
            if all(info.knows(pod) for pod in pods):
                self._unassigned.pop(name, None)
                found[name] = info
                continue
            free = dict(info.free)
            for sets in pods.values():
                for resource, taken in sets.items():
                    free[resource] = free.get(resource, frozenset()) - taken
            found[name] = replace(info, free=free)
        return found

    def assign(self, pods: Mapping[PodKey, tuple[str, ResourceSets]]) -> None:
        """What a session has assigned to pods, and on which node."""
        for pod, (name, sets) in pods.items():
            self._unassigned.setdefault(name, {})[pod] = sets


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


def _pods(given: Iterable[Document]) -> frozenset[str]:
    uids = {entry["uid"] for entry in given if entry.get("uid")}
    return frozenset(uids | {f"{entry.get('namespace', '')}/{entry['name']}" for entry in given if entry.get("name")})


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
