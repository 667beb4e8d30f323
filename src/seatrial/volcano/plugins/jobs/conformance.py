"""conformance: system pods are never evicted. Upstream: plugins/conformance/conformance.go."""

from collections.abc import Sequence
from typing import Any

from seatrial.volcano.cache.task_info import TaskInfo
from seatrial.volcano.framework.extension_points import PERMIT, Point
from seatrial.volcano.framework.plugin import Plugin

CRITICAL = ("system-cluster-critical", "system-node-critical")
SYSTEM_NAMESPACE = "kube-system"


class Conformance(Plugin):
    """Spares pods of system priority classes and of kube-system."""

    name = "conformance"

    def on_session_open(self) -> None:
        for point in (Point.PREEMPTABLE, Point.RECLAIMABLE, Point.UNIFIED_EVICTABLE):
            self.add(point, _victims)


def _victims(_: Any, candidates: Sequence[TaskInfo]) -> tuple[list[TaskInfo], int]:
    victims = [
        task
        for task in candidates
        if task.pod.spec.get("priorityClassName") not in CRITICAL and task.namespace != SYSTEM_NAMESPACE
    ]
    return victims, PERMIT
