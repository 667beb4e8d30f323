"""Which cpus of a node a container gets: topology hints, their merging by policy, and the choice of cpus.

Masks of NUMA nodes are sets of bits. Upstream: plugins/numaaware (policy, provider/cpumanager).
"""

from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import combinations
from typing import NamedTuple

from seatrial.model.documents import Document
from seatrial.model.quantity import Quantity
from seatrial.scheduler.preemption import go_sort
from seatrial.volcano.cache.numa_info import TOPOLOGY_MANAGER, CpuInfo, Cpus, NumatopoInfo

BEST_EFFORT, RESTRICTED, SINGLE_NUMA_NODE = "best-effort", "restricted", "single-numa-node"
_NO_CPUS: Cpus = frozenset()


class Hint(NamedTuple):
    """A mask of NUMA nodes that can serve a request; None where any can."""

    mask: int | None
    preferred: bool


class CpuRequest:
    """The cpus a container asks for on a node, and those it can have."""

    def __init__(self, container: Document, info: NumatopoInfo, free: Mapping[str, Cpus]) -> None:
        self._info = info
        requests = (container.get("resources") or {}).get("requests") or {}
        self._count = _whole_cpus(requests.get("cpu"))
        self._has_free = "cpu" in free
        reserved = info.reserved.get("cpu")
        kept: Cpus = _NO_CPUS
        if reserved is not None:
            kept = take_by_topology(info.cpus, frozenset(info.cpus), -(-reserved.milli_value() // 1000)) or _NO_CPUS
        self._free = free.get("cpu", _NO_CPUS) - kept

    def best_hint(self) -> Hint | None:
        """The hint that the node's policy chooses; None where the policy does not admit the container."""
        policy = self._info.policies.get(TOPOLOGY_MANAGER)
        if policy not in (BEST_EFFORT, RESTRICTED, SINGLE_NUMA_NODE):
            return Hint(None, False)
        hints = self._hints()
        if policy == SINGLE_NUMA_NODE:
            hints = [h for h in hints if h.preferred and (h.mask is None or h.mask.bit_count() == 1)]
        best = _merge(self._info.numa_nodes, hints)
        return best if policy == BEST_EFFORT or best.preferred else None

    def _hints(self) -> list[Hint]:
        if not self._count or not self._has_free:
            return [Hint(None, True)]
        return topology_hints(self._free, self._info.cpus, self._count) or [Hint(None, False)]

    def assign(self, hint: Hint) -> Cpus:
        """The cpus chosen, those of the hint first; none where there are not enough."""
        cpus, result = self._info.cpus, _NO_CPUS
        if hint.mask is not None:
            aligned = frozenset(c for c in self._free if c in cpus and hint.mask >> cpus[c].numa & 1)
            taken = take_by_topology(cpus, aligned, min(self._count, len(aligned)))
            if taken is None:
                return _NO_CPUS
            result = taken
        rest = take_by_topology(cpus, self._free - result, self._count - len(result))
        return _NO_CPUS if rest is None else result | rest


def topology_hints(free: Cpus, cpus: Mapping[int, CpuInfo], count: int) -> list[Hint]:
    """All sets of NUMA nodes with enough free cpus; those as small as an empty node would allow are preferred."""
    nodes = sorted({cpu.numa for cpu in cpus.values()})
    free_numa = [cpus[cpu].numa if cpu in cpus else 0 for cpu in sorted(free)]
    smallest, masks = len(nodes), []
    for size in range(1, len(nodes) + 1):
        for chosen in combinations(nodes, size):
            if sum(cpu.numa in chosen for cpu in cpus.values()) >= count:
                smallest = min(smallest, size)
            if sum(numa in chosen for numa in free_numa) >= count:
                masks.append(_mask(chosen))
    return [Hint(mask, mask.bit_count() == smallest) for mask in masks]


def _merge(numa_nodes: Sequence[int], hints: Sequence[Hint]) -> Hint:
    """The best hint: preferred ones first, then the narrowest, then the lowest nodes."""
    everything = _mask(numa_nodes)
    best, rank = Hint(everything, False), (True, everything.bit_count(), everything)
    for hint in hints:
        mask = everything if hint.mask is None else everything & hint.mask
        found = (not hint.preferred, mask.bit_count(), mask)
        if mask and found < rank:
            best, rank = Hint(mask, hint.preferred), found
    return best


def _mask(nodes: Sequence[int]) -> int:
    return reduce(lambda mask, node: mask | 1 << node, nodes, 0)


def _whole_cpus(text: str | int | None) -> int:
    """The number of cpus requested; nothing where it is no whole number."""
    quantity = Quantity.parse(text) if text is not None else None
    if quantity is None or quantity.value() * 1000 != quantity.milli_value():
        return 0
    return quantity.value()


def take_by_topology(cpus: Mapping[int, CpuInfo], free: Cpus, count: int) -> Cpus | None:
    """So many free cpus, whole sockets first, then whole cores, then single cpus; None where there are not enough."""
    return _Accumulator(cpus, free, count).take_all()


class _Accumulator:
    """Takes cpus one group after the other. Ids of sockets and cores are matched with ids of cpus as upstream does."""

    def __init__(self, cpus: Mapping[int, CpuInfo], free: Cpus, needed: int) -> None:
        self._cpus = cpus
        self._free = {cpu: info for cpu, info in cpus.items() if cpu in free}
        self._needed = needed
        self._result: Cpus = _NO_CPUS
        sockets = len({info.socket for info in cpus.values()})
        cores = len({(info.socket, info.core) for info in cpus.values()})
        self._per_socket = len(cpus) // sockets if sockets else 0
        self._per_core = len(cpus) // cores if cores else 0

    def take_all(self) -> Cpus | None:
        if self._needed < 1:
            return self._result
        if self._needed > len(self._free):
            return None
        if self._needed >= self._per_socket:
            for socket in self._free_sockets():
                self._take({cpu for cpu, info in self._free.items() if info.socket == socket})
                if self._needed < max(self._per_socket, 1):
                    break
        if self._needed >= max(self._per_core, 1):
            for core in self._free_cores():
                self._take({cpu for cpu, info in self._free.items() if info.core == core})
                if self._needed < max(self._per_core, 1):
                    break
        for cpu in self._free_cpus() if self._needed > 0 else ():
            self._take({cpu})
            if self._needed < 1:
                break
        return self._result if self._needed < 1 else None

    def _take(self, taken: set[int]) -> None:
        self._result |= taken
        self._free = {cpu: info for cpu, info in self._free.items() if cpu not in taken}
        self._needed -= len(taken)

    def _free_sockets(self) -> list[int]:
        return sorted({info.socket for info in self._free.values()} & self._free.keys())

    def _cores_of(self, socket: int) -> list[int]:
        return sorted({info.core for info in self._free.values() if info.socket == socket} & self._free.keys())

    def _free_cores(self) -> list[int]:
        """Cores of sockets with few free ones first. Upstream sorts the sockets from no certain order."""
        sockets = sorted({info.socket for info in self._free.values()})
        sizes = {socket: len(self._cores_of(socket)) for socket in sockets}
        go_sort(sockets, lambda one, other: sizes[one] < sizes[other] or one < other)
        return [core for socket in sockets for core in self._cores_of(socket)]

    def _free_cpus(self) -> list[int]:
        """Single cpus, by their cores: near the cpus taken, on sockets and cores with few free ones."""
        cores = sorted({info.core for info in self._free.values()})
        first: dict[int, int] = {}
        for cpu in sorted(self._cpus):
            first.setdefault(self._cpus[cpu].core, cpu)
        socket_of = {core: self._cpus[first[core]].socket for core in cores}
        near, free = (dict.fromkeys(socket_of.values(), 0) for _ in range(2))
        on_core = dict.fromkeys(cores, 0)
        for cpu, info in self._cpus.items():
            if info.socket in near:
                near[info.socket] += cpu in self._result
                free[info.socket] += cpu in self._free
            if cpu in self._free:
                on_core[info.core] += 1

        def less(one: int, other: int) -> bool:
            a, b = socket_of[one], socket_of[other]
            is_nearer = near[a] > near[b] or free[a] < free[b]
            return is_nearer or on_core[one] < on_core[other] or a < b or one < other

        go_sort(cores, less)
        return [cpu for core in cores for cpu in sorted(self._free) if self._free[cpu].core == core]
