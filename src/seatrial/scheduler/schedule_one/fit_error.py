"""Why a pod fits nowhere: the statuses of all nodes, and the one sentence that the FailedScheduling event says.

Upstream: pkg/scheduler/framework/types.go (Diagnosis, FitError), framework/interface.go (NodeToStatus).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from seatrial.scheduler.cache.row_names import NodeNames
from seatrial.scheduler.framework.status import Code, Status, unresolvable

ABSENT = unresolvable()
"""The status of a node that was not visited."""
NO_CODES: NDArray[np.int32] = np.zeros(0, np.int32)


class Diagnosis:
    """Nodes and why they were rejected, as small numbers: 0 for `absent`, else 1 + the place in `statuses`."""

    def __init__(
        self,
        order: Sequence[str],
        codes: NDArray[np.int32] = NO_CODES,
        statuses: Sequence[Status] = (),
        absent: Status = ABSENT,
        pre_filter_message: str = "",
        of_strangers: Sequence[Status] = (),
    ) -> None:
        self.order = order
        """all nodes, in the order of the snapshot; `codes` are parallel to it, unless there are none"""
        self.absent = absent
        self._codes, self._statuses = codes, statuses
        self._pre_filter_message = pre_filter_message
        self._of_strangers = of_strangers
        """what extenders said about nodes that are not there: upstream counts them with the others"""

    @cached_property
    def counts(self) -> Sequence[tuple[Status, int]]:
        """How many nodes have which status."""
        if not len(self._codes):
            return [(self.absent, len(self.order))] if self.order else []
        numbers = np.bincount(self._codes, minlength=len(self._statuses) + 1).tolist()
        numbers[0] -= len(self._of_strangers)
        known = zip((self.absent, *self._statuses), numbers, strict=True)
        return [(status, number) for status, number in known if number > 0] + [(s, 1) for s in self._of_strangers]

    @cached_property
    def _place_of(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.order)}

    def status(self, node: str) -> Status:
        place = self._place_of.get(node)
        code = 0 if place is None or not len(self._codes) else self._codes.item(place)
        return self._statuses[code - 1] if code else self.absent

    def resolvable(self) -> Sequence[str]:
        """Nodes whose rejection preemption may resolve, in the order of the snapshot."""
        helpful = np.array([status.code == Code.UNSCHEDULABLE for status in (self.absent, *self._statuses)])
        if not len(self._codes):
            return self.order if helpful[0] else []
        mask = helpful[self._codes]
        if isinstance(self.order, NodeNames):
            return self.order.where(mask)
        return list(compress(self.order, mask.tolist()))

    def plugins(self, pending: bool = False) -> tuple[str, ...]:
        """The plugins to blame, by name."""
        blamed = {s.plugin for s, _ in self.counts if ((s.code == Code.PENDING) if pending else s.is_rejected)}
        return tuple(sorted(blamed - {""}))

    def message(self, post_filter: str = "") -> str:
        """The text of the event."""
        return _fit_error(len(self.order), self.counts, self._pre_filter_message, post_filter)


def fit_error(nodes: int, statuses: Iterable[Status], absent: Status, explicit: int) -> str:
    """`0/N nodes are available: ` and how many were rejected for which reason, sorted as texts."""
    listed = list(statuses)
    known = {id(status): status for status in listed}
    counts = [(known[which], number) for which, number in Counter(map(id, listed)).items()]
    return _fit_error(nodes, [*counts, (absent, max(0, nodes - explicit))])


def _fit_error(nodes: int, counts: Iterable[tuple[Status, int]], pre_filter: str = "", post_filter: str = "") -> str:
    text = f"0/{nodes} nodes are available:"
    if pre_filter:
        text += f" {pre_filter}."
    else:
        numbers: dict[str, int] = {}
        for status, number in counts:
            for reason in status.reasons if number else ():
                numbers[reason] = numbers.get(reason, 0) + number
        reasons = sorted(f"{number} {reason}" for reason, number in numbers.items())
        if reasons:
            text += f" {', '.join(reasons)}."
    return f"{text} {post_filter}" if post_filter else text
