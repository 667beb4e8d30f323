"""env: the index of a pod within its task as a variable. Upstream: pkg/controllers/job/plugins/env."""

from seatrial.model.documents import Document
from seatrial.volcano.apis.labels import TASK_INDEX
from seatrial.volcano.controllers.job.plugins.interface import JobPlugin, containers_of


class Env(JobPlugin):
    """Sets VK_TASK_INDEX and VC_TASK_INDEX."""

    def on_pod_create(self, job: Document, pod: Document) -> None:
        index = pod["metadata"]["labels"][TASK_INDEX]
        for container in containers_of(pod):
            variables = container.setdefault("env", [])
            variables += [{"name": name, "value": index} for name in ("VK_TASK_INDEX", "VC_TASK_INDEX")]
