"""resourcequota: a job is let in only if its minimum fits in the quotas of its namespace.

Upstream: plugins/resourcequota/resourcequota.go.
"""

from seatrial.model.documents import Document
from seatrial.model.quantity import Quantity
from seatrial.volcano.cache.job_info import JobInfo
from seatrial.volcano.framework.events import NORMAL
from seatrial.volcano.framework.extension_points import PERMIT, REJECT
from seatrial.volcano.framework.plugin import Plugin

Amounts = dict[str, Quantity]


class ResourceQuota(Plugin):
    """Adds up what jobs let in during the session will need."""

    name = "resourcequota"

    def on_session_open(self) -> None:
        self._pending: dict[str, Amounts] = {}
        self.count_jobs(self._enqueueable, self._enqueued)

    def _enqueueable(self, job: JobInfo) -> int:
        wanted = job.pod_group.min_resources
        if wanted is None:
            return PERMIT
        for quota in self.session.cluster.objects.list("ResourceQuota", job.namespace):
            exceeded = self._exceeded(_amounts(wanted), quota, job.namespace)
            if exceeded:
                text = f"resource quota insufficient, {exceeded}"
                self.session.record(job, NORMAL, "Unschedulable", text)
                self.session.refuse(job.uid, "jobEnqueueable", self.name, f"namespace {job.namespace}: {text}")
                return REJECT
        return PERMIT

    def _exceeded(self, wanted: Amounts, quota: Document, namespace: str) -> str:
        """What exceeds a quota, in words."""
        status = quota.get("status") or {}
        hard, used = _amounts(status.get("hard")), _amounts(status.get("used"))
        pending = self._pending.get(namespace, {})
        over = []
        for name, amount in wanted.items():
            if name not in hard:
                continue
            total = amount + used.get(name, _ZERO) + pending.get(name, _ZERO)
            if total > hard[name]:
                over.append(name)
        if not over:
            return ""
        parts = (("requested", wanted), ("used", used), ("limited", hard))
        listed = [f"{word}: {', '.join(f'{n} {amounts.get(n, _ZERO)}' for n in over)}" for word, amounts in parts]
        return ", ".join(listed)

    def _enqueued(self, job: JobInfo) -> None:
        pending = self._pending.setdefault(job.namespace, {})
        for name, amount in _amounts(job.pod_group.min_resources).items():
            pending[name] = pending.get(name, _ZERO) + amount


_ZERO = Quantity(0)


def _amounts(resources: Document | None) -> Amounts:
    return {name: Quantity.parse(value) for name, value in (resources or {}).items()}
