"""Runs the Filter plugins of a profile over a view of nodes.

Upstream: pkg/scheduler/framework/runtime/framework.go (RunFilterPlugins, RunFilterPluginsWithNominatedPods).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from seatrial.scheduler.cache.node_info import NodeInfo
from seatrial.scheduler.cache.node_table import Mask, Nodes
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.framework.cluster import Nominator
from seatrial.scheduler.framework.interface import Reads
from seatrial.scheduler.framework.runtime import CycleState, Framework
from seatrial.scheduler.framework.status import SUCCESS, Status, Verdicts


@dataclass(slots=True)
class FilterResults:
    """For each node of a view the first filter that rejects it."""

    framework: Framework
    rejecter: NDArray[np.int16]
    """0 if the node passes, else 1 + index of the filter"""
    verdicts: list[Verdicts | None]
    _known: dict[tuple[int, int], Status] = field(default_factory=dict)

    @property
    def passed(self) -> Mask:
        mask: Mask = self.rejecter == 0
        return mask

    def status(self, place: int) -> Status:
        """The status that the framework reports for one node."""
        index = int(self.rejecter[place])
        if not index:
            return SUCCESS
        verdicts = self.verdicts[index - 1]
        assert verdicts is not None
        key = (index, int(verdicts.codes[place]))
        if key not in self._known:
            self._known[key] = self.framework.filters[index - 1].signed(verdicts.status(place))
        return self._known[key]


def run_filters(
    framework: Framework, pod: PodInfo, nodes: Nodes, cycle: CycleState, least: Reads = Reads.NODE
) -> FilterResults:
    """Calls the filters in order; a node that one filter rejects is not passed to later filters.

    `least` leaves out filters that depend on less: after a change of pods only, those that read the node alone.
    """
    rejecter = np.zeros(len(nodes), np.int16)
    verdicts: list[Verdicts | None] = []
    for index, call in enumerate(framework.filters):
        if call.reads < least or call.name in cycle.skipped or rejecter.all():
            verdicts.append(None)
            continue
        answer = call(pod, nodes, cycle.of(call.name), rejecter == 0)
        verdicts.append(answer)
        if answer is not None:
            rejecter[(rejecter == 0) & (answer.codes != 0)] = index + 1
    return FilterResults(framework, rejecter, verdicts)


def cycle_with(cycle: CycleState, pods: Sequence[PodInfo], node: NodeInfo) -> CycleState:
    """The states with some pods added to a node; the same object if nothing changes."""
    if cycle.depends_on_pods:
        for pod in pods:
            cycle = cycle.with_pod(pod, node)
    return cycle


def nominated_before(nominator: Nominator, node: str, pod: PodInfo) -> list[PodInfo]:
    """The pods of equal or higher priority nominated to a node: the pod must leave room for them."""
    return [other for other in nominator.nominated_to(node) if other.priority >= pod.priority and other.uid != pod.uid]
