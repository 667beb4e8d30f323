"""Finds the pods whose eviction would violate a PodDisruptionBudget.

Upstream: filterPodsWithPDBViolation of pkg/scheduler/framework/plugins/defaultpreemption.
"""

from collections.abc import Mapping, Sequence

from seatrial.model.documents import Document
from seatrial.scheduler.cache.label_selectors import Selector
from seatrial.scheduler.cache.pod_info import PodInfo


class Budget:
    """A PodDisruptionBudget as far as preemption looks at it."""

    def __init__(self, document: Document) -> None:
        status = document.get("status") or {}
        self.namespace: str = (document.get("metadata") or {}).get("namespace") or "default"
        self.selector = Selector.read((document.get("spec") or {}).get("selector"))
        self.allowed: int = status.get("disruptionsAllowed") or 0
        self.disrupted: Mapping[str, str] = status.get("disruptedPods") or {}

    def covers(self, pod: PodInfo) -> bool:
        """Whether an eviction of the pod counts; budgets mean labelled pods only, an empty selector none."""
        if pod.namespace != self.namespace or not pod.labels or self.selector.is_empty:
            return False
        return self.selector.matches(pod.labels) and pod.name not in self.disrupted


def violations(pods: Sequence[PodInfo], budgets: Sequence[Budget]) -> list[PodInfo]:
    """The pods whose eviction, in this order, would break a budget."""
    left = [budget.allowed for budget in budgets]
    broken: list[PodInfo] = []
    for pod in pods:
        breaks = False
        for index, budget in enumerate(budgets):
            if budget.covers(pod):
                left[index] -= 1
                breaks |= left[index] < 0
        if breaks:
            broken.append(pod)
    return broken
