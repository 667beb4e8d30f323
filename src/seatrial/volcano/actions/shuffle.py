"""shuffle: evicts the running tasks that plugins want elsewhere. Upstream: actions/shuffle/shuffle.go."""

from seatrial.volcano.cache.task_info import TaskStatus
from seatrial.volcano.framework.session import Session


def execute(session: Session) -> None:
    """Evicts what the plugins choose among all running tasks."""
    running = [task for job in session.jobs.values() for task in job.index.listed(TaskStatus.RUNNING)]
    for task in session.victim_tasks(running):
        session.evict(task, "shuffle")
