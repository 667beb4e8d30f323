"""The pods nominated to nodes after a preemption. Upstream: pkg/scheduler/backend/queue/nominator.go (v1.36.3)."""

from collections.abc import Callable, Collection, Sequence

from seatrial.scheduler.cache.change_log import ChangeLog
from seatrial.scheduler.cache.pod_info import PodInfo

Present = Callable[[PodInfo], PodInfo | None]
"""The pod as it is now; None where it is gone or bound."""


class PodNominator:
    """Nominations by node, in order of nomination."""

    def __init__(self, present: Present) -> None:
        self._present = present
        self._by_node: dict[str, dict[str, PodInfo]] = {}
        self._node_of: dict[str, str] = {}
        self._log: ChangeLog[str] = ChangeLog()

    def nominate(self, pod: PodInfo, node: str | None = None) -> None:
        """Nominate a pod to a node; without one, to the node its status names. "" clears a nomination.

        A cleared nomination stays known as such, so that the status of an update still on its way does not revive it.
        """
        if node == "" and self._node_of.get(pod.uid) == "":
            return  # it was cleared before
        self.remove(pod)
        target = pod.nominated_node if node is None else node
        if node is None and not target:
            return
        if self._present(pod) is None:
            return
        self._node_of[pod.uid] = target
        if target:
            self._by_node.setdefault(target, {})[pod.uid] = pod
            self._log.append(target)

    def update(self, old: PodInfo, new: PodInfo) -> None:
        """A pending pod has changed: a nomination that its status does not know yet is kept."""
        node: str | None = None
        if not old.nominated_node and not new.nominated_node:
            node = self._node_of.get(old.uid)
            if node is None or (not node and self._present(new) is not None):
                return
        self.remove(old)
        self.nominate(new, node)

    def remove(self, pod: PodInfo) -> None:
        node = self._node_of.pop(pod.uid, None)
        if not node:
            return
        pods = self._by_node[node]
        del pods[pod.uid]
        if not pods:
            del self._by_node[node]
        self._log.append(node)

    def nominated_to(self, node: str) -> Sequence[PodInfo]:
        """The pods nominated to a node, in order of nomination."""
        pods = self._by_node.get(node)
        return () if not pods else [self._present(pod) or pod for pod in pods.values()]

    def nominated_nodes(self) -> Collection[str]:
        """The nodes that have nominated pods."""
        return self._by_node

    @property
    def changes(self) -> int:
        """The number of nominations made and withdrawn so far."""
        return self._log.mark

    def changed_since(self, changes: int) -> Sequence[str] | None:
        """The nodes whose nominated pods have changed since `changes` was that number; None if it is too long ago."""
        return self._log.since(changes)

    def node_of(self, pod: PodInfo) -> str:
        """The node a pod is nominated to, or an empty text."""
        return self._node_of.get(pod.uid, "")
