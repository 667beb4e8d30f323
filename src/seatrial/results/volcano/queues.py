"""Volcano's queues over time, as the sessions saw them: one moment whenever anything of a queue has changed."""

from dataclasses import dataclass
from functools import cached_property

import polars as pl

from seatrial.model.documents import Document, decode
from seatrial.results.run import Run
from seatrial.results.volcano.jobs import SESSION

AMOUNTS = ("deserved", "allocated", "guarantee", "capability", "inqueue")
ROOT = "root"


@dataclass(frozen=True)
class QueueMoment:
    """One queue from a time on, in microseconds; amounts in cores, bytes and pieces."""

    queue: str
    time: int
    state: Document

    @property
    def parent(self) -> str:
        parent: str = self.state["parent"]
        return parent

    @property
    def share(self) -> float:
        return float(self.state["share"])

    @property
    def is_overused(self) -> bool:
        return bool(self.state["overused"])

    def amounts(self, what: str) -> dict[str, float]:
        """The deserved, allocated, guarantee, capability or inqueue amount of each resource."""
        found: dict[str, float] = self.state[what]
        return found

    @cached_property
    def resources(self) -> list[str]:
        """The resources that the queue has anything of, the usual ones first."""
        named = dict.fromkeys(name for what in AMOUNTS for name in self.amounts(what))
        usual = [name for name in ("cpu", "memory") if name in named]
        return [*usual, *sorted(name for name in named if name not in ("cpu", "memory"))]

    @property
    def is_below_deserved(self) -> bool:
        """Whether the queue holds less than it deserves of a resource that its jobs wait for."""
        waits = sum(count for phase, count in self.state["jobs"].items() if phase in ("Pending", "Inqueue"))
        held = self.amounts("allocated")
        return bool(waits) and any(
            held.get(name, 0.0) < amount for name, amount in self.amounts("deserved").items() if name != "pods"
        )


def queue_moments(run: Run) -> list[QueueMoment]:
    """All moments in order; empty where Volcano takes no part or the run was recorded before there were any."""
    wanted = (pl.col("entry") == SESSION) & (pl.col("kind") == "Queue")
    columns = ["name", pl.col("time").dt.epoch("us"), "object"]
    rows = run.timeline.table.filter(wanted).select(columns).collect()
    return [QueueMoment(name, time, decode(data)) for name, time, data in rows.iter_rows()]


def queue_tree(run: Run) -> list[tuple[int, QueueMoment]]:
    """All queues as the last session left them, each below its parent and with its depth."""
    last = {moment.queue: moment for moment in queue_moments(run)}
    below: dict[str, list[str]] = {}
    for name, moment in sorted(last.items()):
        below.setdefault(moment.parent if moment.parent in last else "", []).append(name)
    found: list[tuple[int, QueueMoment]] = []

    def add(name: str, depth: int) -> None:
        found.append((depth, last[name]))
        for child in below.get(name, ()):
            add(child, depth + 1)

    for name in below.get("", ()):
        add(name, 0)
    return found
