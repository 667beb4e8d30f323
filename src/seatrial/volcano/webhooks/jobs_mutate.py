"""Defaults of a Volcano Job.

Upstream: pkg/webhooks/admission/jobs/mutate/mutate_job.go.
"""

from typing import Final

from seatrial.model.documents import Document
from seatrial.store import Request
from seatrial.store.admission import Reader
from seatrial.volcano.apis import DEFAULT_QUEUE, SCHEDULER_NAME

DEFAULT_MAX_RETRY: Final = 3
DEFAULT_TASK: Final = "default"
_NEED_SERVICE: Final = ("tensorflow", "mpi", "pytorch", "ray")


def mutate(request: Request, reader: Reader) -> None:
    """Fill in what the Job leaves out."""
    spec = request.document.setdefault("spec", {})
    spec["queue"] = spec.get("queue") or DEFAULT_QUEUE
    spec["schedulerName"] = spec.get("schedulerName") or SCHEDULER_NAME
    spec["maxRetry"] = spec.get("maxRetry") or DEFAULT_MAX_RETRY
    # What is no object is refused by the schema, after this.
    tasks: list[Document] = [task for task in spec.get("tasks") or () if isinstance(task, dict)]
    for index, task in enumerate(tasks):
        _default_task(task, index)
    if not spec.get("minAvailable"):
        spec["minAvailable"] = sum(task["minAvailable"] for task in tasks)
    _default_plugins(spec)


def _default_task(task: Document, index: int) -> None:
    task["name"] = task.get("name") or f"{DEFAULT_TASK}{index}"
    pod = (task.get("template") or {}).get("spec") or {}
    if pod.get("hostNetwork") and not pod.get("dnsPolicy"):
        pod["dnsPolicy"] = "ClusterFirstWithHostNet"
    if task.get("minAvailable") is None:
        partitions = task.get("partitionPolicy") or {}
        least = partitions.get("minPartitions") or 0
        task["minAvailable"] = least * partitions["partitionSize"] if least > 0 else task.get("replicas", 0)
    task["maxRetry"] = task.get("maxRetry") or DEFAULT_MAX_RETRY


def _default_plugins(spec: Document) -> None:
    """The plugins of distributed frameworks build on svc, and mpi on ssh as well."""
    plugins: Document | None = spec.get("plugins")
    if plugins is None:
        return
    if any(name in plugins for name in _NEED_SERVICE):
        plugins.setdefault("svc", [])
    if "mpi" in plugins:
        plugins.setdefault("ssh", [])
