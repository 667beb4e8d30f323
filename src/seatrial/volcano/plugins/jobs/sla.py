"""sla: a job that has waited its time goes first and is let in whatever later tiers say. Upstream: plugins/sla."""

from seatrial.model.durations import DurationError, parse_duration
from seatrial.volcano.cache.job_info import JobInfo
from seatrial.volcano.cache.task_info import TaskStatus
from seatrial.volcano.framework.extension_points import ABSTAIN, PERMIT, Point
from seatrial.volcano.framework.plugin import Plugin
from seatrial.volcano.framework.priority_queue import KeyOrder


class Sla(Plugin):
    """Compares the time by which jobs should be scheduled."""

    name = "sla"

    def on_session_open(self) -> None:
        try:
            waiting = parse_duration(self.arguments.text("sla-waiting-time", "0"))
        except DurationError:
            waiting = 0
        self._default = waiting if waiting > 0 else None
        self.add(Point.JOB_ORDER, KeyOrder[JobInfo](self._urgency))
        self.add(Point.JOB_ENQUEUEABLE, self._permit)
        self.add(Point.JOB_PIPELINED, self._permit)

    def _due(self, job: JobInfo) -> int | None:
        waiting = job.waiting_time or self._default
        return None if waiting is None else job.created + waiting

    def _urgency(self, job: JobInfo) -> tuple[bool, int]:
        """Jobs that may wait as long as they like come last."""
        due = self._due(job)
        return due is None, due or 0

    def _permit(self, job: JobInfo) -> int:
        due = self._due(job)
        return ABSTAIN if due is None or self.session.now < due else PERMIT

    def wakes_at(self) -> int | None:
        now = self.session.now
        due = [
            self._due(job) for job in self.session.jobs.values() if job.index.of(TaskStatus.PENDING) or job.is_pending
        ]
        return min((instant for instant in due if instant is not None and instant > now), default=None)
