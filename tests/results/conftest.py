"""A small run whose every number can be worked out by hand.

Two nodes of 4 cores and 8Gi come in step 1 (zones a and b; 0.5 and 1.5 an hour), a third of the same size in step 3.
Step 1: pod small (1 core, 1Gi) goes to n1. Step 2: pods wide (3 cores) to n1 and huge (10 cores) nowhere.
Step 3: urgent (priority 100, 4 cores) goes to n2. Step 5: urgent is preempted by vital and gone; small has succeeded.
"""

from typing import Any

import polars as pl
import pytest

from seatrial.model.documents import encode
from seatrial.results.run import Run
from seatrial.timeline.columns import COLUMNS

START = 1_893_456_000_000_000
HOUR = 3_600_000_000


def node(name: str, zone: str, price: str) -> dict[str, Any]:
    labels = {
        "topology.kubernetes.io/zone": zone,
        "kubernetes.io/hostname": name,
        "seatrial.dev/price-per-hour": price,
    }
    amounts = {"cpu": "4", "memory": "8Gi", "pods": "10"}
    return {"kind": "Node", "metadata": {"name": name, "labels": labels}, "status": {"allocatable": amounts}}


def pod(name: str, cpu: str, on: str = "", **more: Any) -> dict[str, Any]:
    owner = {"kind": "ReplicaSet", "name": "web", "controller": True, "uid": "u"}
    spec: dict[str, Any] = {
        "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu, "memory": "1Gi"}}}],
        "priority": more.pop("priority", 0),
    }
    if on:
        spec["nodeName"] = on
    meta = {"name": name, "namespace": "default", "ownerReferences": [owner], "labels": {"app": "web"}}
    return {"kind": "Pod", "metadata": meta, "spec": spec, "status": {"phase": more.pop("phase", "Pending")}}


class Story:
    """Rows of a timeline as they are told."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []

    def tell(self, major: int, minor: int, entry: str, document: dict[str, Any], writer: str = "", **more: Any) -> None:
        meta = document["metadata"]
        data = None if more.pop("gone", False) else encode(document).decode()
        self.rows.append(
            {
                "sequence": len(self.rows), "major": major, "minor": minor, "time": START + (major - 1) * HOUR,
                "writer": writer or "operation:x", "entry": entry, "kind": document["kind"],
                "namespace": meta.get("namespace", ""), "name": meta["name"], "object": data, **more,
            }
        )  # fmt: skip

    def attempt(self, major: int, name: str, outcome: str, **more: Any) -> None:
        self.tell(major, 0, "attempt", pod(name, "1"), "scheduler", gone=True, outcome=outcome, **more)


def the_story() -> Story:
    story = Story()
    story.tell(1, 0, "create", node("n1", "a", "0.5"))
    story.tell(1, 0, "create", node("n2", "b", "1.5"))
    story.tell(1, 0, "create", pod("small", "1"))
    story.attempt(1, "small", "scheduled", visited=2, feasible=2)
    story.tell(1, 1, "patch", pod("small", "1", "n1"), "scheduler")
    story.tell(2, 0, "create", pod("wide", "3"))
    story.tell(2, 0, "create", pod("huge", "10"))
    story.attempt(2, "wide", "scheduled", visited=2, feasible=2)
    story.tell(2, 1, "patch", pod("wide", "3", "n1"), "scheduler")
    story.attempt(2, "huge", "unschedulable", visited=2)
    story.tell(3, 0, "create", node("n3", "b", "1.5"))
    story.tell(3, 0, "create", pod("urgent", "4", priority=100))
    story.attempt(3, "urgent", "scheduled", visited=3, feasible=2)
    story.tell(3, 1, "patch", pod("urgent", "4", "n2", priority=100), "scheduler")
    story.tell(5, 0, "create", pod("vital", "4", priority=200))
    story.tell(5, 1, "delete", pod("urgent", "4", "n2", priority=100), "scheduler")
    story.attempt(5, "vital", "unschedulable", visited=3, victims=["default/urgent"])
    story.attempt(5, "vital", "scheduled", visited=3, feasible=1)
    story.tell(5, 2, "patch", pod("vital", "4", "n2", priority=200), "scheduler")
    story.tell(5, 2, "status", pod("small", "1", "n1", phase="Succeeded"), "pod")
    return story


def told_run(story: Story, name: str = "told") -> Run:
    """A run whose rows are given."""
    columns = [pl.Series(column, [row.get(column) for row in story.rows], type) for column, type in COLUMNS.items()]
    data = b'{"kind": "Scenario", "metadata": {"name": "tale"}, "spec": {}}'
    return Run(name, data, table=pl.DataFrame(columns).lazy())


@pytest.fixture
def told() -> Run:
    return told_run(the_story())
