"""What the nodes cost."""

from collections.abc import Iterable, Mapping

import polars as pl

from seatrial.results.facts import HELD, TIMES
from seatrial.results.measure import measure
from seatrial.results.run import Run

PRICES = ("seatrial.dev/price-per-hour", "eks-node-viewer/instance-price")
"""Labels of a node with its price an hour: ours, and that of Karpenter's kwok provider."""
HOUR = 3_600_000_000
SCHEMA = {"step": pl.Int64, "nodes": pl.Int64, "used_nodes": pl.Int64, "idle_nodes": pl.Int64,
          "price_per_hour": pl.Float64, "used_price_per_hour": pl.Float64, "cost": pl.Float64}  # fmt: skip


def _sums(frame: pl.DataFrame) -> dict[str, float | None]:
    if frame.is_empty():
        return {}
    last = frame.row(-1, named=True)
    return {"nodes_used": float(last["used_nodes"]), "used_price_per_hour": last["used_price_per_hour"]}


@measure(
    "cost",
    unit="",
    better="lower",
    needs=HELD,
    needed_by={"cost": TIMES},
    summary=_sums,
    numbers=("nodes_used", "used_price_per_hour"),
)
def cost(run: Run) -> pl.DataFrame:
    """Price of the nodes that are there, and of those in use, at the end of each step.

    A node is in use if it has a pod that would have to move before the node is switched off: pods of DaemonSets and
    mirror pods do not count, and a node that holds nothing else is one of `idle_nodes`. A node's price is its label
    `seatrial.dev/price-per-hour` (`--prices` sets it) or that which Karpenter gives it; where that of one node is not
    known, neither is the sum: null.
    `cost` is what the nodes have cost since the start of the run in virtual time. Summary: how many nodes are in use at
    the end, and what those cost an hour.
    """
    rows: list[tuple[int, int, int, int, float | None, float | None, float | None]] = []
    spent: float | None = 0.0
    for i, step in enumerate(run.steps):
        if i and (before := rows[-1][4]) is not None and spent is not None:
            spent += before * (step.time - run.steps[i - 1].time) / HOUR
        elif i:
            spent = None
        there = {node.name: price_of(node.labels) for node in run.nodes if node.is_there(step.major)}
        used = {pod.node for pod in run.pods if pod.uses_node(step.major)} & there.keys()
        prices = _sum(there.values()), _sum(there[name] for name in sorted(used))
        rows.append((step.major, len(there), len(used), len(there) - len(used), *prices, spent))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def price_of(labels: Mapping[str, str]) -> float | None:
    """The price of a node an hour, from its label; None where it is not known."""
    given = next((labels[label] for label in PRICES if label in labels), "")
    try:
        return float(given)
    except ValueError:
        return None


def _sum(prices: Iterable[float | None]) -> float | None:
    known = list(prices)
    return None if None in known else sum(price for price in known if price is not None)
