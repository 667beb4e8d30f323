"""Resource pools that a node can reach, in the order in which the allocator tries them.

Upstream: structured/internal/incubating/pools_incubating.go. Pools come by driver and name, slices by name, devices as
their slice has them; pools with binding conditions come last. A pool may be incomplete (its driver is publishing it) or
invalid (a device name twice, unknown counters): devices are never taken from those, but asking for all devices fails.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from seatrial.model.documents import Document
from seatrial.scheduler.cache.node_selectors import NamedNode
from seatrial.scheduler.dra.devices import Counters, Device, DeviceID, Slice
from seatrial.scheduler.volumes.node_terms import selects

PoolID = tuple[str, str]


class Candidate:
    """A device with the place it was found at; `id` is driver, pool and device."""

    __slots__ = ("device", "id", "pool", "slice")

    def __init__(self, device: Device, piece: Slice, pool: "Pool") -> None:
        self.device = device
        self.slice = piece
        self.pool = pool
        self.id: DeviceID = (pool.driver, pool.name, device.name)


@dataclass(frozen=True)
class Pool:
    """A pool as one node sees it."""

    driver: str
    name: str
    slices: tuple[Slice, ...] = ()
    """Slices with devices for the node."""
    other_slices: tuple[Slice, ...] = ()
    """Slices of the pool for other nodes; their allocated devices draw on the same counters."""
    counter_sets: Mapping[str, Counters] | None = None
    is_incomplete: bool = False
    is_invalid: bool = False
    why: str = ""
    """What is wrong with an invalid pool, where that is told."""

    @property
    def text(self) -> str:
        return f"{self.driver}/{self.name}"

    @cached_property
    def candidates(self) -> tuple[tuple[Candidate, ...], ...]:
        """The devices of each slice."""
        return tuple(tuple(Candidate(device, piece, self) for device in piece.devices) for piece in self.slices)

    @property
    def has_binding_conditions(self) -> bool:
        return any(device.document.get("bindingConditions") is not None for s in self.slices for device in s.devices)


def node_matches(node: NamedNode, node_name: str, all_nodes: bool, selector: Document | None) -> bool:
    """Whether devices that say where they are reachable are so from the node."""
    if node_name:
        return node.name == node_name
    return all_nodes or (selector is not None and selects(selector, node))


def device_matches(node: NamedNode, device: Device) -> bool:
    """Per-device node selection."""
    document = device.document
    return node_matches(
        node, document.get("nodeName") or "", bool(document.get("allNodes")), document.get("nodeSelector")
    )


class Inventory:
    """All slices of the cluster, and the pools of each node, worked out once per revision."""

    def __init__(
        self, documents: Sequence[Document], *, has_partitions: bool = True, checks_pools: bool = True
    ) -> None:
        self.has_partitions = has_partitions
        """False without DRAPartitionableDevices: counters, and devices that say where they are, do not count."""
        self.checks_pools = checks_pools
        """Whether slices for other nodes count when a pool is to be complete and new."""
        self.slices = sorted((Slice(document) for document in documents), key=lambda s: s.name)
        self._local: dict[str, list[Slice]] = {}
        self._shared: list[Slice] = []
        for piece in self.slices:
            if piece.node_name and not piece.shared_counters:
                self._local.setdefault(piece.node_name, []).append(piece)
            else:
                self._shared.append(piece)
        self._pools: dict[str, tuple[Mapping[str, str], list[Pool]]] = {}

    def pools(self, node: NamedNode) -> list[Pool]:
        """The pools of a node."""
        known = self._pools.get(node.name)
        if known is not None and (known[0] is node.labels or known[0] == node.labels):
            return known[1]
        pools = self._gather(node)
        self._pools[node.name] = (node.labels, pools)
        return pools

    def _gather(self, node: NamedNode) -> list[Pool]:
        found: dict[PoolID, list[Slice]] = {}
        for piece in (*self._local.get(node.name, ()), *self._shared):
            is_plain = not piece.per_device and not piece.shared_counters
            if (self.has_partitions or is_plain) and _is_relevant(piece, node):
                _add(found, piece)
        plain: list[Pool] = []
        binding: list[Pool] = []
        for pool_id in sorted(found):
            pool = self._pool(pool_id, found[pool_id])
            if pool is not None:
                (binding if pool.has_binding_conditions else plain).append(pool)
        return plain + binding

    def _pool(self, pool_id: PoolID, pieces: list[Slice]) -> Pool | None:
        """The pool of these slices; None where a newer generation, without devices for the node, replaces it."""
        wanted, generation = pieces[0].slice_count, pieces[0].generation
        if not self.checks_pools:
            return unchecked_pool(pool_id, pieces, is_incomplete=len(pieces) != wanted)
        if len(pieces) == wanted:
            return build_pool(pool_id, pieces, None, self.has_partitions)
        everywhere = [piece for piece in self.slices if piece.pool_id == pool_id]
        if any(piece.generation > generation for piece in everywhere):
            return None
        current = [piece for piece in everywhere if piece.generation == generation]
        if len(current) != wanted:
            return Pool(*pool_id, is_incomplete=True)
        return build_pool(pool_id, pieces, current, self.has_partitions)


def _is_relevant(piece: Slice, node: NamedNode) -> bool:
    if piece.shared_counters:
        return True
    if piece.node_name or piece.all_nodes or piece.node_selector is not None:
        return node_matches(node, piece.node_name, piece.all_nodes, piece.node_selector)
    return piece.per_device and any(device_matches(node, device) for device in piece.devices)


def _add(found: dict[PoolID, list[Slice]], piece: Slice) -> None:
    present = found.get(piece.pool_id)
    if present is None or piece.generation > present[0].generation:
        found[piece.pool_id] = [piece]
    elif piece.generation == present[0].generation:
        present.append(piece)


def unchecked_pool(pool_id: PoolID, pieces: Sequence[Slice], *, is_incomplete: bool) -> Pool:
    """A pool as the slices for the node make it."""
    names: set[str] = set()
    for name in (device.name for piece in pieces for device in piece.devices):
        if name in names:
            return Pool(*pool_id, is_incomplete=is_incomplete, is_invalid=True, why=f"duplicate device name {name}")
        names.add(name)
    return Pool(*pool_id, tuple(pieces), is_incomplete=is_incomplete)


def build_pool(
    pool_id: PoolID, pieces: Sequence[Slice], everywhere: Sequence[Slice] | None, has_partitions: bool = True
) -> Pool:
    """A complete pool: valid, or marked as invalid."""
    pieces = sorted(pieces, key=lambda piece: piece.name)
    with_devices = [piece for piece in pieces if not piece.shared_counters]
    names = [device.name for piece in with_devices for device in piece.devices]
    counter_sets: dict[str, Counters] = {}
    duplicate = len(set(names)) != len(names)
    for piece in pieces:
        for name, counters in piece.shared_counters:
            duplicate = duplicate or name in counter_sets
            counter_sets[name] = counters
    if duplicate or (has_partitions and not _counters_exist(counter_sets, pieces)):
        return Pool(*pool_id, is_invalid=True)
    if not has_partitions:
        return Pool(*pool_id, tuple(with_devices))
    others: tuple[Slice, ...] = ()
    if everywhere is not None and len(everywhere) != len(pieces):
        here = {piece.name for piece in pieces}
        others = tuple(piece for piece in everywhere if piece.name not in here)
        if not _counters_exist(counter_sets, others):
            return Pool(*pool_id, is_invalid=True)
    return Pool(*pool_id, tuple(with_devices), others, counter_sets)


def _counters_exist(counter_sets: Mapping[str, Counters], pieces: Sequence[Slice]) -> bool:
    """Whether devices consume only counters that the pool has."""
    return all(
        name in counter_sets and set(counters) <= set(counter_sets[name])
        for piece in pieces
        for device in piece.devices
        for name, counters in device.consumes
    )
