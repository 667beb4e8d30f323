"""Why a pod fits nowhere: the statuses of all nodes, and the one sentence that the FailedScheduling event says.

Upstream: pkg/scheduler/framework/types.go (Diagnosis, FitError), framework/interface.go (NodeToStatus).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from seatrial.scheduler.verdict import Code, Status, unresolvable

ABSENT = unresolvable()
"""What is assumed of a node nobody looked at."""


@dataclass(slots=True)
class Diagnosis:
    """Nodes and why they were rejected; all others have `absent`."""

    order: Sequence[str]
    """all nodes, in the order of the snapshot"""
    statuses: Mapping[str, Status] = field(default_factory=dict)
    absent: Status = ABSENT
    pre_filter_message: str = ""
    _blamed: dict[bool, tuple[str, ...]] = field(default_factory=dict, repr=False, compare=False)

    def status(self, node: str) -> Status:
        return self.statuses.get(node, self.absent)

    def resolvable(self) -> Sequence[str]:
        """Nodes whose rejection preemption may resolve, in the order of the snapshot."""
        helpful = {id(status) for status in self._all() if status.code == Code.UNSCHEDULABLE}
        of, absent = self.statuses.get, self.absent
        return [name for name in self.order if id(of(name, absent)) in helpful]

    def plugins(self, pending: bool = False) -> tuple[str, ...]:
        """The plugins to blame, by name."""
        blamed = self._blamed.get(pending)
        if blamed is None:
            code = Code.PENDING
            listed = {s.plugin for s in self._all() if s.plugin and ((s.code == code) if pending else s.is_rejected)}
            blamed = self._blamed[pending] = tuple(sorted(listed))
        return blamed

    def message(self, post_filter: str = "") -> str:
        """The text of the event."""
        return fit_error(
            len(self.order),
            self.statuses.values(),
            self.absent,
            len(self.statuses),
            self.pre_filter_message,
            post_filter,
        )

    def _all(self) -> Iterable[Status]:
        yield from {id(status): status for status in self.statuses.values()}.values()
        if len(self.statuses) < len(self.order):
            yield self.absent


def fit_error(
    nodes: int, statuses: Iterable[Status], absent: Status, explicit: int, pre_filter: str = "", post_filter: str = ""
) -> str:
    """`0/N nodes are available: ` and how many were rejected for which reason, sorted as texts."""
    text = f"0/{nodes} nodes are available:"
    if pre_filter:
        text += f" {pre_filter}."
    else:
        counts: dict[str, int] = {}
        listed = list(statuses)
        known = {id(status): status for status in listed}
        for which, number in Counter(map(id, listed)).items():
            for reason in known[which].reasons:
                counts[reason] = counts.get(reason, 0) + number
        if explicit < nodes:
            for reason in absent.reasons:
                counts[reason] = counts.get(reason, 0) + nodes - explicit
        told = sorted(f"{number} {reason}" for reason, number in counts.items())
        if told:
            text += f" {', '.join(told)}."
    return f"{text} {post_filter}" if post_filter else text
