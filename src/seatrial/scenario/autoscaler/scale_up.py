"""Scale-up: how many nodes of which group would take the pending pods.

Upstream: core/scaleup/orchestrator (one option for each group, one group at a time), estimator/binpacking_estimator.go
(pods by size, a new node where none of the others fits), expander/*.
"""

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from seatrial.model.quantity import Quantity
from seatrial.scenario.autoscaler.cluster_snapshot import ClusterSnapshot
from seatrial.scenario.autoscaler.flags import Expander
from seatrial.scenario.autoscaler.node_group import NodeGroup


@dataclass(slots=True)
class Option:
    """How many nodes of one group, and the pods that they take."""

    group: NodeGroup
    nodes: int = 0
    pods: list[str] = field(default_factory=list)
    waste: float = 0.0
    """The share of the capacity of the new nodes, in cpu and memory, that the pods leave."""

    @property
    def price(self) -> float:
        """The price of the nodes for each pod; a group without a price is the dearest."""
        price = self.group.spec.price_per_hour
        return float("inf") if price is None else price * self.nodes / len(self.pods)


def estimate(snapshot: ClusterSnapshot, group: NodeGroup, pods: Sequence[str], room: int) -> Option:
    """Pack pods on at most `room` new nodes of a group; the snapshot is as before afterwards."""
    cpu, memory = resources_of(group.spec.template.allocatable or group.spec.template.capacity)
    ordered = sorted(pods, key=lambda key: -_size(snapshot, key, cpu, memory))
    placed: dict[str, str] = {}
    used: set[str] = set()
    made: list[str] = []
    hopeless: set[int] = set()
    """Shapes of pods that an empty node does not take."""
    for key in ordered:
        info = snapshot.pod(key)
        if info is None or id(info.shape) in hopeless:
            continue
        node = snapshot.place(key)
        if not node and len(made) < room and (not made or made[-1] in used):
            made.append(f"{group.name}-template-{len(made)}")
            snapshot.add_node(group.node(made[-1]))
            node = snapshot.place(key)
        if node:
            placed[key] = node
            used.add(node)
        elif made and made[-1] not in used:
            hopeless.add(id(info.shape))
    option = _option(snapshot, group, placed, made)
    for key, node in placed.items():
        snapshot.take_back(key, node)
    for name in made:
        snapshot.remove_node(name)
    return option


def best(options: Sequence[Option], expander: Expander, seed: int) -> Option:
    """The option that the expander takes; ties are broken by a seeded draw."""
    rank = _RANKS[expander]
    ranks = [rank(option) for option in options]
    equal = [option for option, each in zip(options, ranks, strict=True) if each == min(ranks)]
    return equal[zlib.crc32(str(seed).encode()) % len(equal)]


_RANKS: dict[Expander, Callable[[Option], float]] = {
    "least-waste": lambda option: option.waste,
    "price": lambda option: option.price,
    "priority": lambda option: -option.group.spec.priority,
    "most-pods": lambda option: -len(option.pods),
    "random": lambda option: 0.0,
}


def resources_of(room: Mapping[str, Any]) -> tuple[int, int]:
    """Milli-cpu and bytes of some resources."""
    return Quantity.parse(room.get("cpu", "0")).milli_value(), Quantity.parse(room.get("memory", "0")).value()


def _size(snapshot: ClusterSnapshot, key: str, cpu: int, memory: int) -> float:
    info = snapshot.pod(key)
    if info is None:
        return 0.0
    return info.requests.cpu / (cpu or 1) + info.requests.memory / (memory or 1)


def _option(snapshot: ClusterSnapshot, group: NodeGroup, placed: dict[str, str], made: Sequence[str]) -> Option:
    cpu, memory = resources_of(group.spec.template.capacity)
    used = set(made) & set(placed.values())
    pods = [key for key, node in placed.items() if node in used]
    infos = [info for key in pods if (info := snapshot.pod(key)) is not None]
    waste = 0.0
    for has, asked in (
        (cpu, sum(info.requests.cpu for info in infos)),
        (memory, sum(info.requests.memory for info in infos)),
    ):
        total = has * len(used)
        waste += (total - asked) / total if total else 0.0
    return Option(group, len(used), pods, waste)
