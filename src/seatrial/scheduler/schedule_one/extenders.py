"""What the scheduling cycle asks of extenders. Upstream: pkg/scheduler/schedule_one.go (findNodesThatPassExtenders)."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct

from seatrial.model.documents import Document
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.framework.status import Status


class ExtenderFailed(Exception):
    """An extender that cannot be ignored failed; the text ends the cycle."""


class Candidates(Struct, frozen=True):
    """Feasible nodes in order: the scheduler's own, or as an extender without a node cache gave them back."""

    names: Sequence[str]
    documents: Sequence[Document] | None = None
    """The Node objects of an extender's answer, parallel to the names; None: the scheduler's own nodes."""

    def picked(self, names: Sequence[str]) -> "Candidates":
        """Some of the nodes, by name."""
        if self.documents is None:
            return Candidates(names)
        by_name = dict(zip(self.names, self.documents, strict=True))
        return Candidates(names, [by_name[name] for name in names])


class Extenders(Protocol):
    """All extenders of the configuration as one; `scheduler/extender` speaks HTTP."""

    has_filter: bool
    has_prioritize: bool

    def filter(self, pod: PodInfo, nodes: Candidates) -> tuple[Candidates, Mapping[str, Status]]:
        """The nodes left, in order, and why others are not; raises ExtenderFailed."""
        ...

    def prioritize(self, pod: PodInfo, nodes: Candidates) -> Mapping[str, int]:
        """Weighted scores by node, added to the plugins' totals."""
        ...

    def preempt(self, pod: PodInfo, candidates: Mapping[str, Any]) -> Mapping[str, Any]:
        """The preemption candidates left (node -> Victims); raises ExtenderFailed."""
        ...
