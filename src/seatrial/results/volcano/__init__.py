"""Volcano's jobs and queues in a run: what became of them, why they wait, and what they held."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.results.volcano.explanation import (
        KINDS,
        JobExplanation,
        QueueExplanation,
        explain_job,
        explain_queue,
        find_jobs,
        job_groups,
        listed_amounts,
    )
    from seatrial.results.volcano.jobs import VolcanoJob, jobs_of
    from seatrial.results.volcano.queues import AMOUNTS, QueueMoment, queue_moments, queue_tree
else:
    __getattr__, __dir__ = lazy_exports(__name__)
