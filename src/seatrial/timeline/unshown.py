"""Counts the facts of a run that no entry of its KEP-140 timeline shows.

`timeline.parquet` has all of them. A Scenario alone (`result.json`, `kubectl get scenario -o json`) has them in
`status.notInTimeline`, so that its reader knows which measures the entries suffice for:

- `finishedPods`: pods that Succeeded or Failed by a status write, which is no operation. By step, with the number of
  entries of that step before it; only their number where there are very many.
- `attempts`: attempts that no entry lists, since the pod was gone before one was written.
- `attemptsWithoutNodes`: attempts listed with their step alone.
- `nodeStatusWrites`: changes of what a node offers by a status write.
- `snapshotObjects`: objects that existed before the first step.
"""

from typing import Any

import msgspec

from seatrial.model.documents import Document
from seatrial.store import Change, StatusView, Stored

MOST_FINISHED = 10_000
"""Finished pods that are listed: the status is encoded again at each end of a run."""


class Unshown:
    """The facts of one run."""

    def __init__(self) -> None:
        self.attempts = 0
        self.attempts_without_nodes = 0
        self.snapshot_objects = 0
        self._node_status_writes = 0
        self._finished: dict[str, list[list[Any]]] = {}
        self._finished_count = 0

    def note_finished(self, stored: Stored, major: int, entries: int) -> None:
        """A pod has finished; `entries` of its step were written before."""
        self._finished_count += 1
        if self._finished_count <= MOST_FINISHED:
            self._finished.setdefault(str(major), []).append([entries, f"{stored.namespace}/{stored.name}"])

    def note_node(self, change: Change) -> None:
        """A write to a node that is no operation: does it change what the node offers?"""
        before = change.previous
        if before is not None and _OFFER.read(change.stored) != _OFFER.read(before):
            self._node_status_writes += 1

    def document(self) -> Document:
        """The facts on the wire; empty where the entries show everything."""
        listed = self._finished_count <= MOST_FINISHED
        facts = {
            "finishedPods": self._finished if listed else self._finished_count,
            "attempts": self.attempts,
            "attemptsWithoutNodes": self.attempts_without_nodes,
            "nodeStatusWrites": self._node_status_writes,
            "snapshotObjects": self.snapshot_objects,
        }
        return {name: value for name, value in facts.items() if value}

    def restore(self, facts: Document) -> None:
        """Continue from the facts of an earlier server process."""
        finished = facts.get("finishedPods") or {}
        if isinstance(finished, dict):
            self._finished = finished
            self._finished_count = sum(map(len, finished.values()))
        else:
            self._finished_count = finished
        self.attempts = facts.get("attempts") or 0
        self.attempts_without_nodes = facts.get("attemptsWithoutNodes") or 0
        self._node_status_writes = facts.get("nodeStatusWrites") or 0
        self.snapshot_objects = facts.get("snapshotObjects") or 0


class _NodeStatus(msgspec.Struct):
    capacity: dict[str, Any] = {}
    allocatable: dict[str, Any] = {}


_OFFER = StatusView(_NodeStatus)
