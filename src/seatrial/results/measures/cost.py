"""What the nodes cost."""

import polars as pl

from seatrial.results.measure import measure
from seatrial.results.run import Run

PRICE = "seatrial.dev/price-per-hour"
HOUR = 3_600_000_000
SCHEMA = {"step": pl.Int64, "nodes": pl.Int64, "used_nodes": pl.Int64, "price_per_hour": pl.Float64,
          "used_price_per_hour": pl.Float64, "cost": pl.Float64}  # fmt: skip


def _sums(frame: pl.DataFrame) -> dict[str, float | None]:
    if frame.is_empty():
        return {}
    last = frame.row(-1, named=True)
    return {"nodes_used": float(last["used_nodes"]), "used_price_per_hour": last["used_price_per_hour"]}


@measure("cost", unit="", better="lower", summary=_sums)
def cost(run: Run) -> pl.DataFrame:
    """Price of the nodes that are there, and of those with a pod, at the end of each step.

    A node's price is its label `seatrial.dev/price-per-hour` (0 without). `cost` is what the nodes have cost since the
    start of the run in virtual time. Summary: how many nodes have a pod at the end, and what those cost an hour.
    """
    rows: list[tuple[int, int, int, float, float, float]] = []
    spent = 0.0
    for i, step in enumerate(run.steps):
        if i:
            spent += rows[-1][3] * (step.time - run.steps[i - 1].time) / HOUR
        there = {node.name: _price(node.labels) for node in run.nodes if node.is_there(i)}
        used = {pod.node for pod in run.pods if pod.is_on_node(i)} & there.keys()
        rows.append(
            (step.major, len(there), len(used), sum(there.values()), sum(there[name] for name in sorted(used)), spent)
        )
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _price(labels: dict[str, str]) -> float:
    try:
        return float(labels.get(PRICE, "0"))
    except ValueError:
        return 0.0
