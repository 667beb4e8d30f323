"""overcommit: jobs are let in until their minimum resources exceed what is idle by a factor.

Upstream: plugins/overcommit/overcommit.go.
"""

from dataclasses import replace

from seatrial.volcano.cache.job_info import INQUEUE, RUNNING, JobInfo
from seatrial.volcano.cache.resource import Resource
from seatrial.volcano.framework.events import NORMAL
from seatrial.volcano.framework.extension_points import PERMIT, REJECT, Point
from seatrial.volcano.framework.plugin import Plugin
from seatrial.volcano.framework.refusals import shortages
from seatrial.volcano.plugins.queues.inqueue import reserved, resource_names

DEFAULT_FACTOR = 1.2


class Overcommit(Plugin):
    """Compares what waits with what is idle."""

    name = "overcommit"

    def on_session_open(self) -> None:
        session = self.session
        factor = self.arguments.number("overcommit-factor", DEFAULT_FACTOR)
        self._factor = DEFAULT_FACTOR if factor < 1.0 else factor
        self._idle = session.total_resource.clone().multiply(self._factor)
        used = Resource()
        for node in session.node_list:
            used.add(node.used)
        self._idle.sub(used)
        self._inqueue = Resource()
        for job in session.jobs.values():
            group = job.pod_group
            if group.min_resources is None:
                continue
            if group.phase == INQUEUE:
                self._inqueue.add(job.without_gated(job.min_resources))
            elif group.phase == RUNNING and job.index.allocated >= group.min_member:
                self._inqueue.add(job.without_gated(reserved(job)))
        self.add(Point.JOB_ENQUEUEABLE, self._enqueueable)
        self.add(Point.JOB_ENQUEUED, self._enqueued)

    def _enqueueable(self, job: JobInfo) -> int:
        if job.pod_group.min_resources is None:
            return PERMIT
        exceeding = self._inqueue.clone().add(job.min_resources).exceeding_of(self._idle, job.min_resources)
        if not exceeding:
            return PERMIT
        text = resource_names("resource in cluster is overused", "overused", exceeding)
        self.session.record(job, NORMAL, "Unschedulable", text)
        total = self.session.total_resource
        short = (
            replace(each, factor=self._factor + each.missing / total.get(each.resource), gain=self._factor)
            if total.get(each.resource)
            else each
            for each in shortages(exceeding, job.min_resources, self._inqueue, self._idle)
        )
        self.session.refuse(job.uid, "jobEnqueueable", self.name, text, tuple(short))
        return REJECT

    def _enqueued(self, job: JobInfo) -> None:
        if job.pod_group.min_resources is not None:
            self._inqueue.add(job.without_gated(job.min_resources))
