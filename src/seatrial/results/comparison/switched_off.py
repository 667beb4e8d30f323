"""Which nodes could be switched off at the end of a run, by pool, and how many of them in the first run already."""

from collections import Counter
from dataclasses import dataclass

from seatrial.results.lifecycles import NodeLife
from seatrial.results.measures.cost import price_of
from seatrial.results.pools import pool_of
from seatrial.results.run import Run

GPU = "gpu"


@dataclass(frozen=True, slots=True)
class FreedPool:
    """The nodes of one pool that no pod keeps in use at the end of a run."""

    pool: str
    nodes: tuple[str, ...]
    first: int
    """How many nodes of the pool are not in use in the first run."""
    cpu: float
    """Cores."""
    memory: int
    """Bytes."""
    gpus: int
    price_per_hour: float | None
    """None: the price of one of them is not known."""


def idle_nodes(run: Run) -> list[NodeLife]:
    """The nodes without a pod at the end that would have to move before they are switched off."""
    last = run.last_step
    used = {pod.node for pod in run.pods if pod.uses_node(last)}
    return [node for node in run.nodes if node.is_there(last) and node.name not in used]


def freed_nodes(first: Run, run: Run, pool_label: str = "") -> list[FreedPool]:
    """The nodes that could be switched off at the end of a run, by pool."""
    pools: dict[str, list[NodeLife]] = {}
    for node in idle_nodes(run):
        pools.setdefault(pool_of(node.labels, pool_label), []).append(node)
    before = Counter(pool_of(node.labels, pool_label) for node in idle_nodes(first))
    return [_freed(pool, nodes, before[pool]) for pool, nodes in sorted(pools.items())]


def _freed(pool: str, nodes: list[NodeLife], first: int) -> FreedPool:
    prices = [price_of(node.labels) for node in nodes]
    known = [price for price in prices if price is not None]
    return FreedPool(
        pool,
        tuple(sorted(node.name for node in nodes)),
        first,
        sum(node.allocatable.get("cpu", 0) for node in nodes) / 1000,
        sum(node.allocatable.get("memory", 0) for node in nodes),
        sum(amount for node in nodes for name, amount in node.allocatable.items() if GPU in name.rpartition("/")[2]),
        sum(known) if len(known) == len(prices) else None,
    )
