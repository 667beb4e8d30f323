"""The plugins of a Job: what they add to its pods, and the objects that they make for it.

Every plugin is noted in `status.controlledResources`. The plugins of distributed frameworks (tensorflow, pytorch, mpi,
ray, hcclrank) are only noted: they add variables and ports that containers alone read.

Upstream: pkg/controllers/job/plugins and job_controller_plugins.go, which calls them in random order.
"""

from seatrial.model.documents import Document
from seatrial.volcano.controllers.job.plugins.env import Env
from seatrial.volcano.controllers.job.plugins.interface import JobPlugin, Owner
from seatrial.volcano.controllers.job.plugins.ssh import Ssh
from seatrial.volcano.controllers.job.plugins.svc import Svc
from seatrial.volcano.controllers.job.status import JobStatus

PLUGINS: dict[str, type[JobPlugin]] = {"env": Env, "ssh": Ssh, "svc": Svc}
_NOTE = "plugin-"


def on_pod_create(job: Document, pod: Document) -> None:
    """Let the plugins of a Job add to a pod."""
    for _, plugin in _plugins(job):
        plugin.on_pod_create(job, pod)


def on_job_add(owner: Owner, job: Document, status: JobStatus) -> None:
    """Create what the plugins of a new Job need, and note them."""
    for name, plugin in _plugins(job):
        if _NOTE + name not in status.controlled_resources:
            plugin.on_job_add(owner, job)
    status.controlled_resources |= {_NOTE + name: name for name in sorted(job["spec"].get("plugins") or ())}


def on_job_update(owner: Owner, job: Document) -> None:
    """Bring what the plugins of a Job made to what the Job says now."""
    for _, plugin in _plugins(job):
        plugin.on_job_update(owner, job)


def on_job_delete(owner: Owner, job: Document, status: JobStatus) -> None:
    """Delete what the plugins of a Job made; its pods are killed."""
    for name, plugin in _plugins(job):
        if _NOTE + name in status.controlled_resources:
            plugin.on_job_delete(owner, job)
    status.controlled_resources = {
        key: value for key, value in status.controlled_resources.items() if not key.startswith(_NOTE)
    }


def _plugins(job: Document) -> list[tuple[str, JobPlugin]]:
    given = job["spec"].get("plugins")
    return [(name, PLUGINS[name](given[name] or [])) for name in sorted(given) if name in PLUGINS] if given else []
