"""How well the pods of one owner are spread."""

from collections import Counter

import polars as pl

from seatrial.results.facts import HELD
from seatrial.results.lifecycles import NodeLife
from seatrial.results.measure import measure
from seatrial.results.run import Run

KEYS = ("topology.kubernetes.io/zone", "kubernetes.io/hostname")
SCHEMA = {"key": pl.String, "owner": pl.String, "pods": pl.Int64, "domains": pl.Int64, "used": pl.Int64,
          "skew": pl.Int64}  # fmt: skip


def _mean(frame: pl.DataFrame) -> dict[str, float | None]:
    means = frame.group_by("key", maintain_order=True).agg(pl.col("skew").mean())
    return {f"spread_{key.rsplit('/', 1)[-1]}": skew for key, skew in means.iter_rows()}


@measure(
    "spread",
    unit="pods",
    better="lower",
    needs=HELD,
    summary=_mean,
    numbers=("spread_*",),
)
def spread(run: Run) -> pl.DataFrame:
    """Skew of each owner's pods over zones and hosts at the end of the run.

    For each topology key that nodes carry (a node without the hostname label counts by its name) and each owner with
    at least two pods on nodes: how many domains there are, how many of them have a pod, and the skew, that is the
    largest minus the smallest number of the owner's pods in a domain. Summary: the mean skew for each key.
    """
    last = run.last_step
    nodes = {node.name: node for node in run.nodes if node.is_there(last)}
    owners: dict[str, list[str]] = {}
    for pod in run.pods:
        if pod.is_on_node(last) and pod.node in nodes:
            owners.setdefault(pod.owner or "(none)", []).append(pod.node)
    rows = []
    for key in KEYS:
        domains = {value for node in nodes.values() if (value := _domain(node, key)) is not None}
        if not domains:
            continue
        for owner, places in sorted(owners.items()):
            found = Counter(value for place in places if (value := _domain(nodes[place], key)) is not None)
            if len(places) > 1 and found:
                least = 0 if len(found) < len(domains) else min(found.values())
                rows.append((key, owner, len(places), len(domains), len(found), max(found.values()) - least))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _domain(node: NodeLife, key: str) -> str | None:
    return node.labels.get(key, node.name if key == "kubernetes.io/hostname" else None)
