"""Detects from the pods that a scheduler takes that nothing more can be scheduled (KEP-140, first version)."""

from collections.abc import Collection, Hashable


class SchedulingEnd:
    """Counts how often each pod was taken since the last binding or preemption.

    Only the taking and the change of the cluster are visible, neither a failure nor a binding on its way. Twice,
    because a binding runs in parallel: after once, the last success might not be visible yet.
    """

    def __init__(self) -> None:
        self._taken: dict[Hashable, int] = {}

    def take(self, pod: Hashable) -> None:
        """A scheduler takes a pod to try it."""
        self._taken[pod] = self._taken.get(pod, 0) + 1

    def change(self) -> None:
        """A pod was bound or preempted: all counts start again."""
        self._taken.clear()

    def is_finished(self, pending: Collection[Hashable]) -> bool:
        """Whether every pending pod was taken twice without any change."""
        return all(self._taken.get(pod, 0) >= 2 for pod in pending)
