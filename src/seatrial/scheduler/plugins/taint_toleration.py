"""TaintToleration: NoSchedule and NoExecute taints must be tolerated, PreferNoSchedule ones cost score.

Upstream: pkg/scheduler/framework/plugins/tainttoleration (v1.36).
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from seatrial.scheduler.cache.node_info import NodeInfo
from seatrial.scheduler.cache.node_table import Ints, Nodes
from seatrial.scheduler.cache.pod_info import PodInfo, PodShape
from seatrial.scheduler.cache.pod_terms import Taint, Toleration
from seatrial.scheduler.framework.interface import Action, Plugin, Reads, requeue
from seatrial.scheduler.framework.row_rules import Normalizes
from seatrial.scheduler.framework.scoring import default_normalize
from seatrial.scheduler.framework.status import MISSING, Status, Verdicts, error

REASON = "node(s) had untolerated taint(s)"
COMPARISON_GATE = "TaintTolerationComparisonOperators"
HARD_EFFECTS = ("NoSchedule", "NoExecute")


def tolerated(taint: Taint, tolerations: Iterable[Toleration], numbers: bool) -> bool:
    """Whether one of the tolerations covers the taint."""
    return any(toleration.tolerates(taint, numbers) for toleration in tolerations)


def has_untolerated(taints: Iterable[Taint], tolerations: Sequence[Toleration], numbers: bool) -> bool:
    """Whether a taint that keeps pods away is not tolerated."""
    return any(taint.effect in HARD_EFFECTS and not tolerated(taint, tolerations, numbers) for taint in taints)


class TaintToleration(Plugin):
    """Judges sets of taints, of which there are few, and spreads the answer over the nodes."""

    reads = Reads.NODE
    normalizes = Normalizes.REVERSE_SHARE
    pre_filters_by_shape = True

    def pre_filter(self, pod: PodInfo, nodes: Nodes) -> None:
        """Leaves all nodes: upstream's skips only resizes of bound pods, behind a gate that is off."""

    @property
    def _numbers(self) -> bool:
        return bool(self.handle.gates.get(COMPARISON_GATE)) if self.handle else False

    def filter(self, pod: PodInfo, nodes: Nodes, state: Any = None) -> Verdicts | None:
        shape, numbers = pod.shape, self._numbers
        bad = [bool(taints) and has_untolerated(taints, shape.tolerations, numbers) for taints in nodes.taint_sets]
        if not any(bad):
            return None
        return Verdicts.reject(np.asarray(bad, np.bool_)[nodes.taint_set], REASON, resolvable=False)

    def pre_score(self, pod: PodInfo, nodes: Nodes) -> PodShape:
        return pod.shape  # its tolerations are read where a node has a taint

    def score(self, pod: PodInfo, nodes: Nodes, state: Any = MISSING) -> Ints | Status | None:
        if state is MISSING:
            return error('failed to read "PreScoreTaintToleration" from cycleState: not found')
        counts = [self._number_of_disliked(taints, state) if taints else 0 for taints in nodes.taint_sets]
        if not any(counts):
            return None
        picked: Ints = np.asarray(counts, np.int64)[nodes.taint_set]
        return picked

    def _number_of_disliked(self, taints: Iterable[Taint], shape: PodShape) -> int:
        tolerations = [t for t in shape.tolerations if t.effect in ("", "PreferNoSchedule")]
        soft = [taint for taint in taints if taint.effect == "PreferNoSchedule"]
        return sum(not tolerated(taint, tolerations, self._numbers) for taint in soft)

    def normalize(self, pod: PodInfo, nodes: Nodes, scores: Ints, state: Any = None) -> Ints:
        return default_normalize(scores, reverse=True)

    @requeue.on("Node", Action.ADD | Action.UPDATE_NODE_TAINT)
    def taints_tolerated(self, pod: PodInfo, old: NodeInfo | None, new: NodeInfo) -> bool:
        return (old is None or self._is_repelled(pod, old)) and not self._is_repelled(pod, new)

    @requeue.on("Pod", Action.UPDATE_POD_TOLERATION)
    def own_toleration_changed(self, pod: PodInfo, old: PodInfo | None, new: PodInfo) -> bool:
        return new.uid == pod.uid

    def _is_repelled(self, pod: PodInfo, node: NodeInfo) -> bool:
        return has_untolerated(node.taints, pod.shape.tolerations, self._numbers)
