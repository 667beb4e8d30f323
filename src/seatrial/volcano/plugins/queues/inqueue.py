"""What jobs that were let in still have to get: counted by every plugin that lets jobs in.

Upstream: plugins/util/util.go (GetInqueueResource, FormatResourceNames).
"""

from collections.abc import Sequence

from seatrial.scheduler.cache import is_scalar
from seatrial.volcano.cache.job_info import INQUEUE, RUNNING, JobInfo
from seatrial.volcano.cache.resource import CPU, MEMORY, PODS, Resource


def reserved(job: JobInfo) -> Resource:
    """The minimum resources of a job that it does not hold yet."""
    least, held = job.min_resources, job.allocated
    left = Resource()
    for name in job.pod_group.min_resources or ():
        missing = least.get(name) - held.get(name)
        if name == CPU:
            left.cpu = max(missing, 0.0)
        elif name == MEMORY:
            left.memory = max(missing, 0.0)
        elif name == PODS:
            if missing > 0:
                left.set_scalar(name, missing)
        elif is_scalar(name) and not name.startswith("count/"):
            if left.scalars is None:
                left.scalars = {}
            if name not in (held.scalars or {}) or missing > 0:
                left.set_scalar(name, missing)
    return left


def inqueue_of(job: JobInfo) -> Resource | None:
    """What a queue must keep free for a job that was let in; None where it is not one of those."""
    group = job.pod_group
    if group.min_resources is None:
        return None
    if group.phase == INQUEUE or (group.phase == RUNNING and job.index.allocated >= group.min_member):
        return job.without_gated(reserved(job))
    return None


def resource_names(prefix: str, verb: str, names: Sequence[str]) -> str:
    """A sentence about some resources."""
    return f"{prefix}: {', '.join(f'{verb} {name}' for name in names)}" if names else prefix
