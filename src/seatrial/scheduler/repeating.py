"""Attempts that need not be made twice: a pod that is like one which has just failed fails in the same way.

Between two attempts nothing may have changed that any plugin looks at, and both pods must be alike in all that plugins
look at: same shape, nominated nowhere, no claims or volumes made for the one pod. Only plugins whose sources we know
are trusted with that. A failed search visits every node, so it leaves the start of the next one where it was.
"""

from collections.abc import Iterable
from dataclasses import replace

from seatrial.scheduler.cycle import Attempt
from seatrial.scheduler.framework import Framework
from seatrial.scheduler.nodes import NodeTable
from seatrial.scheduler.pods import PodInfo, PodShape
from seatrial.scheduler.queue import PodNominator
from seatrial.scheduler.registry import IN_TREE
from seatrial.scheduler.store_cluster import StoreCluster

_State = tuple[int, int, int, int]


class FailureMemory:
    """The failures since the last change of the cluster."""

    def __init__(
        self, table: NodeTable, cluster: StoreCluster, nominator: PodNominator, frameworks: Iterable[Framework]
    ) -> None:
        self._table, self._cluster, self._nominator = table, cluster, nominator
        self._trusted = frozenset(
            framework.name
            for framework in frameworks
            if all(plugin.name in IN_TREE for plugins in framework.points.values() for plugin in plugins)
        )
        self._state: _State = (-1, -1, -1, -1)
        self._failures: dict[tuple[str, PodShape], Attempt] = {}

    def recall(self, framework: Framework, pod: PodInfo) -> Attempt | None:
        """The failure that an attempt of this pod would end in; None where it has to be made."""
        if not self._failures:
            return None
        if self._state != self._now():
            self._failures.clear()
            return None
        attempt = self._failures.get((framework.name, pod.shape))
        return replace(attempt, pod=pod) if attempt is not None and _is_like_others(pod) else None

    def remember(self, attempt: Attempt) -> None:
        """Keep a failure that others may repeat."""
        post = attempt.post_filter
        is_plain = not attempt.is_error and (post is None or (not post.victims and not post.status.is_success))
        framework, pod = attempt.framework, attempt.pod
        searched_all = attempt.found is not None and attempt.found.visited == len(self._table.order)
        if not is_plain or not searched_all or framework.name not in self._trusted or not _is_like_others(pod):
            return
        now = self._now()
        if self._state != now:
            self._failures.clear()
            self._state = now
        self._failures[framework.name, pod.shape] = attempt

    def _now(self) -> _State:
        return self._table.mark, self._table.version, self._cluster.changes, self._nominator.changes


def _is_like_others(pod: PodInfo) -> bool:
    """Whether plugins see nothing in the pod but its shape."""
    spec = pod.spec
    return not (
        pod.nominated_node
        or pod.status
        or pod.requests is not pod.shape.requests
        or spec.get("resourceClaims")
        or any("ephemeral" in volume for volume in pod.shape.volumes)
    )
