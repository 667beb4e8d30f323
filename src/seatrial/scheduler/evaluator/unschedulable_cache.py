"""Repeats the outcome of a failed attempt for an equal pod.

Between the two attempts nothing may have changed that a plugin reads, and both pods must be equal in all that plugins
read: same shape, no nomination, no claims or volumes made for the one pod. Only in-tree plugins are known to keep to
that. The search must start at the same node, too: it gives the order in which nodes are recorded. A failed search of
all nodes leaves the start where it was, but one of the nodes that PreFilter left, or one that a failing filter ended,
moves it and changes nothing else.
"""

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from seatrial.scheduler.cache.node_table import NodeTable
from seatrial.scheduler.cache.pod_info import PodInfo, PodShape
from seatrial.scheduler.cache.store_cluster import StoreCluster
from seatrial.scheduler.cache.versioned import Versioned
from seatrial.scheduler.framework.runtime import Framework
from seatrial.scheduler.profile import NO_NODES_PLUGIN
from seatrial.scheduler.queue import PodNominator, QueuedPod
from seatrial.scheduler.schedule_one.decision import Decision
from seatrial.scheduler.schedule_one.schedule_one import NO_NODES, Attempt


class Failure(Struct, frozen=True, eq=False):
    """An attempt that found no node, and what follows from it for every pod of the kind."""

    attempt: Attempt
    decision: Decision
    start: int
    """where its search began, and the next one does"""
    rejectors: frozenset[str]
    pending: frozenset[str]

    @classmethod
    def of(cls, attempt: Attempt, decision: Decision, start: int) -> "Failure":
        pending = frozenset(attempt.pending_by)
        rejectors = frozenset(attempt.rejected_by) - pending
        if attempt.message == NO_NODES:
            rejectors = frozenset((NO_NODES_PLUGIN,))
        return cls(attempt, decision, start, rejectors, pending)

    @property
    def nominated(self) -> str | None:
        """The node the pod is nominated to from now on; None leaves that as it is."""
        post = self.attempt.post_filter
        return "" if post is None else post.nominated_node

    def told_of(self, queued: QueuedPod, at: int) -> Decision:
        """The decision on another pod that fails in the same way."""
        known = self.decision
        return replace(known, pod=queued.key, uid=queued.pod.uid, at=at, attempt=queued.attempts, like=known)


class UnschedulableCache:
    """The failures since the last change of the cluster."""

    def __init__(
        self, table: NodeTable, cluster: StoreCluster, nominator: PodNominator, frameworks: Iterable[Framework]
    ) -> None:
        self._table, self._cluster, self._nominator = table, cluster, nominator
        self._trusted = frozenset(framework.name for framework in frameworks if framework.signing.is_possible)
        self._failures: Versioned[dict[tuple[str, PodShape, bytes | None], Failure]] = Versioned()
        self._has_any = False

    def recall(self, framework: Framework, pod: PodInfo, start: int) -> Failure | None:
        """The failure in which an attempt of this pod would end, searching from a start; None: it has to be made."""
        if not self._has_any:
            return None
        kept = self._failures.get(self._versions(), dict)
        self._has_any = bool(kept)
        if not kept or not pod.is_like_others:
            return None
        known = kept.get((framework.name, pod.shape, framework.signing.sign(pod)))
        return known if known is not None and known.start == start else None

    def remember(self, failure: Failure) -> None:
        """Keep a failure that others may repeat."""
        attempt = failure.attempt
        post, framework, pod = attempt.post_filter, attempt.framework, attempt.pod
        is_plain = not attempt.is_error and (post is None or (not post.victims and not post.status.is_success))
        searched_all = attempt.found is not None and len(attempt.found.visited) == len(self._table.order)
        is_known = framework.name in self._trusted and pod.is_like_others
        if is_plain and searched_all and is_known and framework.signing.sign(pod) is not None:
            self._keep(failure)

    def renew(self, failure: Failure) -> None:
        """Keep a failure that was recalled: reporting it may have changed versions, but nothing that plugins read."""
        if not self._failures.is_current(self._versions()):
            self._keep(failure)

    def _keep(self, failure: Failure) -> None:
        kept = self._failures.get(self._versions(), dict)
        framework, pod = failure.attempt.framework, failure.attempt.pod
        kept[framework.name, pod.shape, framework.signing.sign(pod)] = failure
        self._has_any = True

    def _versions(self) -> tuple[int, int, int, int]:
        return self._table.mark, self._table.version, self._cluster.changes, self._nominator.changes
