"""cdp: a pod is not evicted for a while after it was scheduled. Upstream: plugins/cdp/cdp.go."""

from collections.abc import Sequence

from seatrial.model.durations import DurationError, parse_duration
from seatrial.model.times import parse_time
from seatrial.volcano.apis.labels import COOLDOWN_TIME
from seatrial.volcano.cache.task_info import TaskInfo
from seatrial.volcano.framework.extension_points import PERMIT, Point
from seatrial.volcano.framework.plugin import Plugin


class CooldownProtection(Plugin):
    """Spares pods in their cooldown time."""

    name = "cdp"

    def on_session_open(self) -> None:
        self.add(Point.PREEMPTABLE, self._victims)
        self.add(Point.RECLAIMABLE, self._victims)

    def _victims(self, _: TaskInfo, candidates: Sequence[TaskInfo]) -> tuple[list[TaskInfo], int]:
        return [task for task in candidates if not self._cools_down(task)], PERMIT

    def _cools_down(self, task: TaskInfo) -> bool:
        text = task.pod.labels.get(COOLDOWN_TIME) or task.pod.annotations.get(COOLDOWN_TIME)
        if text is None or task.pod.phase != "Running":
            return False
        try:
            cooldown = parse_duration(text)
        except DurationError:
            return False
        for condition in (task.document.get("status") or {}).get("conditions") or ():
            if condition.get("type") == "PodScheduled" and condition.get("status") == "True":
                since = condition.get("lastTransitionTime")
                return bool(since) and parse_time(since) + cooldown > self.session.now
        return False
