"""Which nodes could be switched off at the end of a run, by pool, against the nodes in use in the first run.

A run may use nodes that are idle in the first one. So the nodes in use that it saves are those that it leaves, less
those that it takes: their numbers add up to the difference of `nodes_used`.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from seatrial.results.lifecycles import NodeLife
from seatrial.results.measures.cost import price_of
from seatrial.results.pools import pool_of
from seatrial.results.run import Run

GPU = "gpu"


@dataclass(frozen=True, slots=True)
class FreedPool:
    """The nodes of one pool that are not in use at the end of a run, or not in the first run."""

    pool: str
    nodes: tuple[str, ...]
    """In use in the first run, and not at the end of this one."""
    idle: tuple[str, ...]
    """In use in neither."""
    needed: tuple[str, ...]
    """Not in use in the first run, and in use at the end of this one."""
    cpu: float
    """Cores of `nodes` without those of `needed`."""
    memory: int
    """Bytes, of the same nodes."""
    gpus: int
    price_per_hour: float | None
    """None: the price of one of them is not known."""


def freed_nodes(first: Run, run: Run, pool_label: str = "") -> list[FreedPool]:
    """The nodes that could be switched off at the end of a run, by pool."""
    before, after = _used(first), _used(run)
    pools: dict[str, list[NodeLife]] = {}
    for node in {node.name: node for node in (*_present(first), *_present(run))}.values():
        if not (node.name in before and node.name in after):
            pools.setdefault(pool_of(node.labels, pool_label), []).append(node)
    return [_freed(pool, nodes, before, after) for pool, nodes in sorted(pools.items())]


def _present(run: Run) -> list[NodeLife]:
    return [node for node in run.nodes if node.is_there(run.last_step)]


def _used(run: Run) -> set[str]:
    return {pod.node for pod in run.pods if pod.uses_node(run.last_step)}


def _freed(pool: str, nodes: list[NodeLife], before: set[str], after: set[str]) -> FreedPool:
    left = [node for node in nodes if node.name in before]
    taken = [node for node in nodes if node.name in after]
    prices = [price_of(node.labels) for node in (*left, *taken)]
    known = [price for price in prices if price is not None]
    return FreedPool(
        pool,
        _names(left),
        _names(node for node in nodes if node.name not in before | after),
        _names(taken),
        (_sum(left, "cpu") - _sum(taken, "cpu")) / 1000,
        _sum(left, "memory") - _sum(taken, "memory"),
        _gpus(left) - _gpus(taken),
        sum(known[: len(left)]) - sum(known[len(left) :]) if len(known) == len(prices) else None,
    )


def _names(nodes: Iterable[NodeLife]) -> tuple[str, ...]:
    return tuple(sorted(node.name for node in nodes))


def _sum(nodes: list[NodeLife], resource: str) -> int:
    return sum(node.allocatable.get(resource, 0) for node in nodes)


def _gpus(nodes: list[NodeLife]) -> int:
    return sum(_sum(nodes, name) for name in {name for node in nodes for name in node.allocatable if _is_gpu(name)})


def _is_gpu(resource: str) -> bool:
    return GPU in resource.rpartition("/")[2]
