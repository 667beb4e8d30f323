"""Opportunistic batching: equal pods that fill one node each follow each other down one list of scored nodes.

A pod is hinted to the next node of the list if it comes right after the pod for which the nodes were scored, has the
same signature, and no longer fits on the node that was taken last. Filters are asked about the hinted node alone. In a
scenario no time passes between two pods, so that a list grows too old only in real time.

Upstream: pkg/scheduler/framework/runtime/batch.go (v1.36.3).
"""

from collections import deque
from collections.abc import Callable, Iterable

import numpy as np
from msgspec import Struct

from seatrial.model.times import MILLISECOND
from seatrial.scheduler.cache.node_table import NodeTable
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.framework.filtering import FilterResults, run_filters
from seatrial.scheduler.framework.pod_signer import PodSigner
from seatrial.scheduler.framework.runtime import Framework
from seatrial.scheduler.queue import QueuedPod
from seatrial.scheduler.schedule_one.schedule_one import Attempt
from seatrial.scheduler.schedule_one.select_host import TieBreak

LONGEST = 500 * MILLISECOND
"""How long a list is used."""


class BatchState:
    """The nodes that were scored for a pod of some signature; it has taken the best."""

    def __init__(self, signature: bytes, attempt: Attempt, tie_break: TieBreak, since: int) -> None:
        assert attempt.scored is not None
        self.signature, self.since = signature, since
        self._names, self._totals = attempt.feasible_names(), attempt.scored.total.copy()
        self._taken, self._tie_break = attempt.node, tie_break
        self._left: deque[str] | None = None
        """Best first; put in order when the first of them is asked for."""

    def __len__(self) -> int:
        return len(self._names) - 1 if self._left is None else len(self._left)

    def pop(self) -> str:
        if self._left is None:
            names = self._names
            ranked = self._tie_break.ranked(self._totals, lambda place: names[place])
            self._left = deque(names[place] for place in ranked if names[place] != self._taken)
        return self._left.popleft()


class OpportunisticBatch:
    """The list of one profile."""

    def __init__(
        self, profile: str, table: NodeTable, now: Callable[[], int], count: Callable[[str, str, str], None]
    ) -> None:
        self.profile = profile
        self._table, self._now, self._count = table, now, count
        self._state: BatchState | None = None
        self._last_number = 0
        self._last_node = ""

    def node_hint(self, batching: "Batching", attempt: Attempt) -> str:
        """The next node of the list, which loses it; empty where the list is of no use to the pod."""
        state = self._state
        if not state or not self._is_usable(state, batching, attempt):
            self._count("batch_attempts_total", self.profile, "no_hint")
            return ""
        return state.pop()

    def store_results(self, batching: "Batching", attempt: Attempt, tie_break: TieBreak) -> None:
        """Keep what was scored for the next pod, unless this one took the hinted node."""
        self._last_number, self._last_node = batching.number, attempt.node
        if batching.hint == attempt.node:
            self._count("batch_attempts_total", self.profile, "hint_used")
            return
        if batching.hint:
            self._count("batch_attempts_total", self.profile, "hint_not_used")
        scored = attempt.scored
        if scored is None or len(scored.total) < 2:
            self._flush("empty_list")
            self._state = None
        elif batching.signature is None:
            self._flush("pod_not_batchable")
            self._state = None
        else:
            self._state = BatchState(batching.signature, attempt, tie_break, self._now())

    def _is_usable(self, state: BatchState, batching: "Batching", attempt: Attempt) -> bool:
        reason = ""
        if batching.number != self._last_number + 1:
            reason = "pod_skipped"
        elif batching.signature != state.signature:
            reason = "pod_incompatible"
        elif self._now() > state.since + LONGEST:
            reason = "expired"
        else:
            reason = self._has_room(batching, attempt)
        if reason:
            self._flush(reason)
        return not reason

    def _has_room(self, batching: "Batching", attempt: Attempt) -> str:
        """Why the node that was taken last may be taken again; empty where the pod does not fit there."""
        row = self._table.row_of.get(self._last_node)
        if row is None:
            return "node_missing"
        view = self._table.take(np.asarray([row], np.intp))
        batching.checked = run_filters(attempt.framework, attempt.pod, view, attempt.cycle)
        return "" if batching.checked.status(0).is_rejected else "node_not_full"

    def _flush(self, reason: str) -> None:
        self._count("batch_cache_flushed_total", self.profile, reason)


class Batching(Struct):
    """What batching knows of one attempt."""

    batch: OpportunisticBatch
    signature: bytes | None
    number: int
    """of the scheduling cycle, counted over all profiles"""
    hint: str = ""
    checked: FilterResults | None = None
    """the verdict on the node that was taken last, if it was asked for"""

    def take_hint(self, attempt: Attempt) -> str:
        """The node to be tried first, if there is one."""
        self.hint = self.batch.node_hint(self, attempt)
        return self.hint

    def store(self, attempt: Attempt, tie_break: TieBreak) -> None:
        """A node was found."""
        self.batch.store_results(self, attempt, tie_break)


class Batches:
    """The lists of all profiles, and what signs their pods."""

    def __init__(
        self,
        frameworks: Iterable[Framework],
        table: NodeTable,
        now: Callable[[], int],
        count: Callable[[str, str, str], None],
        has_extenders: bool,
    ) -> None:
        self.signers: dict[str, PodSigner] = {}
        self.batches: dict[str, OpportunisticBatch] = {}
        for framework in frameworks:
            self.signers[framework.name] = PodSigner(framework.points, has_extenders=has_extenders)
            self.batches[framework.name] = OpportunisticBatch(framework.name, table, now, count)

    @property
    def can_sign(self) -> bool:
        """Whether any pod may be hinted to a node."""
        return any(signer.can_sign for signer in self.signers.values())

    def sign(self, pod: PodInfo) -> bytes | None:
        """The signature of a pod that comes into the queue, or has changed there."""
        signer = self.signers.get(pod.shape.scheduler_name)
        return None if signer is None else signer.sign(pod)

    def begin(self, queued: QueuedPod, number: int) -> Batching:
        """An attempt begins; its number is that of the scheduling cycle."""
        return Batching(self.batches[queued.pod.shape.scheduler_name], queued.signature, number)
