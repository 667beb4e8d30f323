"""The changes of a cluster in order: what the player of the page replays (`web/src/replay.ts`)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from seatrial.model.label_selectors import LabelSelector
from seatrial.results import Run
from seatrial.timeline import SNAPSHOT

NODE_CAME, NODE_WENT, CREATED, BOUND, ENDED, ATTEMPT = range(6)
VERBS = frozenset(
    {
        "create", "patch", "delete", "done", "status", "write", "attempt", "unscheduled", "bound", "preempted",
        "finished",
    }
)  # fmt: skip
_MILLISECOND = 1_000

Columns = dict[str, Any]


def changes(run: Run, tried: Columns, attempts: Sequence[int]) -> Columns:
    """Nodes that come and go, pods that come, get a node and end, and attempts, in the order in which they happened.

    `tried` has the columns of the attempts, `attempts` the sequence number of each. `what` is the place of the node,
    pod or attempt; `time` is in milliseconds since the first step. What a snapshot brought has step -1.
    """
    rows = run.frame(("sequence", "major", "minor", "time", "writer"), VERBS)
    if run.attempted is not run.timeline:
        attempts = _rows_of_listed(run, tried, rows)
    found = [
        *((node.from_row, NODE_CAME, place) for place, node in enumerate(run.nodes)),
        *((node.to_row, NODE_WENT, place) for place, node in enumerate(run.nodes) if node.to_row is not None),
        *((pod.from_row, CREATED, place) for place, pod in enumerate(run.pods)),
        *((pod.bound_row, BOUND, place) for place, pod in enumerate(run.pods) if pod.bound_row is not None),
        *((pod.ended_row, ENDED, place) for place, pod in enumerate(run.pods) if pod.ended_row is not None),
        *((row, ATTEMPT, place) for place, row in enumerate(attempts)),
    ]
    table = np.array(found, np.int64).reshape(-1, 3)
    rows_of, kinds, places = np.ascontiguousarray(table[np.lexsort(table.T[::-1])].T)
    at = np.minimum(np.searchsorted(rows["sequence"].to_numpy(), rows_of), max(len(rows) - 1, 0))
    moments = rows[at] if len(rows) else rows
    start = run.steps[0].time if run.steps else 0
    steps = np.array([run.places[major] for major in moments["major"]], np.int64)
    return {
        "kind": kinds,
        "what": places,
        "step": np.where((moments["writer"] == SNAPSHOT).to_numpy(), -1, steps),
        "minor": moments["minor"].to_numpy(),
        "time": (moments["time"].to_numpy() - start) // _MILLISECOND,
    }


def _rows_of_listed(run: Run, tried: Columns, rows: pl.DataFrame) -> list[int]:
    """Rows for attempts that the Scenario alone lists: the bind of the pod in that step, else the end of the step."""
    last = dict(rows.group_by("major").agg(pl.col("sequence").max()).iter_rows())
    found = []
    for place, step in zip(tried["pod"], tried["step"], strict=True):
        pod, major = run.pods[place], run.steps[step].major
        found.append(last[major] if pod.bound != major or pod.bound_row is None else pod.bound_row)
    return found


def budgets(run: Run) -> list[tuple[int, list[str]]]:
    """The places of the preempted pods, each with the PodDisruptionBudgets that select it."""
    victims = [(place, pod) for place, pod in enumerate(run.pods) if pod.preempted is not None]
    if not victims:
        return []
    selectors = {}
    for entry in run.entries("PodDisruptionBudget"):
        if entry.entry in ("create", "patch") and (budget := entry.object):
            selector = (budget.get("spec") or {}).get("selector")
            selectors[entry.namespace, entry.name] = LabelSelector.from_document(selector)
    found = []
    for place, pod in victims:
        names = [
            name
            for (namespace, name), selector in selectors.items()
            if namespace == pod.namespace and selector.matches(pod.labels)
        ]
        if names:
            found.append((place, names))
    return found
