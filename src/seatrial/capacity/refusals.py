"""Keeps why the scheduler refused each pod: which plugin said no, for what reason, on how many nodes."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from seatrial.scheduler import SCHEDULED, Decision, Recorder
from seatrial.scheduler.framework import Code

NODE_PLUGINS = frozenset(
    {
        "NodeAffinity",
        "NodeName",
        "NodeResourcesFit",
        "NodeUnschedulable",
        "TaintToleration",
        "VolumeBinding",
        "VolumeZone",
    }
)
"""Plugins whose UnschedulableAndUnresolvable depends on the node and the pod alone, not on other pods."""
ALL = {1: "the only node", 2: "both nodes"}


@dataclass(frozen=True, slots=True)
class Refusal:
    """One reason of one plugin, and how many nodes it was given for."""

    plugin: str
    reason: str
    nodes: int


class Refusals:
    """A recorder in front of the timeline: keeps the last decision on every pod that was not placed."""

    def __init__(self) -> None:
        self.decisions: dict[str, Decision] = {}
        """The last refusal by `namespace/name`, in the order of the first attempts."""
        self.preempted: dict[str, str] = {}
        """The preemptor of each victim."""
        self.wants_cells = False
        self._next: Recorder | None = None

    def before(self, recorder: Recorder) -> "Refusals":
        """Hand each decision on to `recorder`."""
        self._next = recorder
        return self

    def keeps_cells(self, visited: int) -> bool:
        return self.wants_cells

    def decided(self, decision: Decision) -> None:
        if self._next is not None:
            self._next.decided(decision)

    def record(self, decision: Decision) -> None:
        if decision.outcome == SCHEDULED:
            self.decisions.pop(decision.pod, None)
        else:
            self.decisions[decision.pod] = decision
        for victim in decision.preemption.victims if decision.preemption is not None else ():
            self.preempted[victim] = decision.pod
        if self._next is not None:
            self._next.record(decision)


def refusals_of(decision: Decision, nodes: Collection[str] | None = None) -> list[Refusal]:
    """The reasons of a decision, or those of some nodes, the one for most nodes first."""
    found: dict[tuple[str, str], int] = {}
    for name, status in decision.rejected():
        if nodes is not None and name not in nodes:
            continue
        for reason in status.reasons:
            found[status.plugin, reason] = found.get((status.plugin, reason), 0) + 1
    if not found and not decision.pre_filter.status.is_success:
        status = decision.pre_filter.status
        found = {(status.plugin, reason): decision.nodes_total for reason in status.reasons}
    if not found and decision.message:
        found = {(", ".join(decision.rejected_by), decision.message): decision.nodes_total}
    ranked = sorted(found.items(), key=lambda item: -item[1])
    return [Refusal(plugin, reason, nodes) for (plugin, reason), nodes in ranked]


def is_hopeless(decision: Decision, nodes: Collection[str] | None = None) -> bool:
    """Whether every node, or each of some, refuses the pod for what it is: more of the same nodes do not help."""
    verdicts = [each for each in decision.rejected() if nodes is None or each[0] in nodes]
    return bool(verdicts) and all(
        status.code == Code.UNRESOLVABLE and status.plugin in NODE_PLUGINS for _, status in verdicts
    )


def wording(refusals: Sequence[Refusal], nodes: int) -> str:
    """The reasons in one clause: `NodeResourcesFit says Insufficient cpu on 28 of 30 nodes`."""
    by_plugin: dict[str, list[Refusal]] = {}
    for refusal in refusals:
        by_plugin.setdefault(refusal.plugin, []).append(refusal)
    clauses = []
    for plugin, given in by_plugin.items():
        reasons = ", ".join(_reason(each, nodes) for each in given)
        clauses.append(f"{plugin} says {reasons}" if plugin else reasons)
    return "; ".join(clauses)


def _reason(refusal: Refusal, nodes: int) -> str:
    if not 0 < refusal.nodes <= nodes:
        return refusal.reason
    where = ALL.get(nodes, f"all {nodes} nodes") if refusal.nodes == nodes else ""
    return f"{refusal.reason} on {where or f'{refusal.nodes} of {nodes} nodes'}"
