"""What the node groups of an autoscaler did and cost."""

from collections.abc import Sequence

import polars as pl

from seatrial.results.facts import OBJECTS, TIMES
from seatrial.results.lifecycles import NodeLife
from seatrial.results.measure import measure
from seatrial.results.measures.cost import HOUR, price_of
from seatrial.results.run import Run

NODE_GROUPS = ("seatrial.dev/node-group", "karpenter.sh/nodepool")
"""Labels of a node that name its group: that of the built-in autoscaler, and that of Karpenter."""
SCHEMA = {"group": pl.String, "added": pl.Int64, "removed": pl.Int64, "most": pl.Int64,
          "node_hours": pl.Float64, "cost": pl.Float64}  # fmt: skip


def _sums(frame: pl.DataFrame) -> dict[str, float | None]:
    if frame.is_empty():
        return {}
    costs = frame["cost"]
    return {
        "nodes_added": float(frame["added"].sum()),
        "nodes_removed": float(frame["removed"].sum()),
        "node_hours": float(frame["node_hours"].sum()),
        "node_cost": None if costs.null_count() else float(costs.sum()),
    }


@measure(
    "node_groups",
    unit="",
    better="lower",
    needs=(OBJECTS, TIMES),
    summary=_sums,
    numbers=("nodes_added", "nodes_removed", "node_hours", "node_cost"),
)
def node_groups(run: Run) -> pl.DataFrame:
    """Nodes that were added to and removed from each group, the most at once, node-hours, and money.

    The group of a node is its label `seatrial.dev/node-group` or `karpenter.sh/nodepool`; nodes without one are the
    group that has no name.
    Hours are those of virtual time until the beginning of the last step. The cost is null where the price of a node is
    not known. A run without node groups has no rows. Summary: the sums over all groups.
    """
    groups: dict[str, list[NodeLife]] = {}
    for node in run.nodes:
        groups.setdefault(next((node.labels[each] for each in NODE_GROUPS if each in node.labels), ""), []).append(node)
    if not groups.keys() - {""}:
        return pl.DataFrame(schema=SCHEMA)
    first, end = run.steps[0].major, run.steps[-1].time
    rows = []
    for name, nodes in sorted(groups.items()):
        spans = [
            (node, max(0, (end if node.went_at is None else node.went_at) - node.came_at) / HOUR) for node in nodes
        ]
        prices = [price_of(node.labels) for node in nodes]
        cost = (
            None
            if None in prices
            else sum(hours * (price or 0.0) for (_, hours), price in zip(spans, prices, strict=True))
        )
        added = sum(node.came > first for node in nodes)
        removed = sum(node.went is not None for node in nodes)
        rows.append((name, added, removed, _most(nodes), sum(hours for _, hours in spans), cost))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _most(nodes: Sequence[NodeLife]) -> int:
    """The largest number of nodes that were there at once."""
    changes = [(node.from_row, 1) for node in nodes]
    changes += [(node.to_row, -1) for node in nodes if node.to_row is not None]
    there = most = 0
    for _, change in sorted(changes):
        there += change
        most = max(most, there)
    return most
