"""PrioritySort: higher priority first, then the longer wait.

Upstream: pkg/scheduler/framework/plugins/queuesort (v1.36).
"""

from typing import Protocol

from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.framework.interface import Plugin


class Queued(Protocol):
    """A pod in the queue."""

    pod: PodInfo
    timestamp: int


class PrioritySort(Plugin):
    """The order of the queue."""

    def less(self, first: Queued, second: Queued) -> bool:
        if first.pod.priority != second.pod.priority:
            return first.pod.priority > second.pod.priority
        return first.timestamp < second.timestamp
