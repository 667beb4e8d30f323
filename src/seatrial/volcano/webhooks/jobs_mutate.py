"""Defaults of a Volcano Job.

Upstream: pkg/webhooks/admission/jobs/mutate/mutate_job.go.
"""

from typing import Any, Final

import msgspec

from seatrial.model.documents import Document
from seatrial.store import Request
from seatrial.store.admission import Reader
from seatrial.volcano.apis import DEFAULT_QUEUE, SCHEDULER_NAME

DEFAULT_MAX_RETRY: Final = 3
DEFAULT_TASK: Final = "default"
_NEED_SERVICE: Final = ("tensorflow", "mpi", "pytorch", "ray")


class _PartitionPolicy(msgspec.Struct, rename="camel"):
    partition_size: int | None = None
    min_partitions: int | None = None


class _Template(msgspec.Struct):
    spec: dict[str, Any] | None = None


class _Task(msgspec.Struct, rename="camel"):
    replicas: int | None = None
    min_available: int | None = None
    partition_policy: _PartitionPolicy | None = None
    template: _Template | None = None


class _JobSpec(msgspec.Struct, rename="camel"):
    min_available: int | None = None
    tasks: list[_Task] | None = None
    plugins: dict[str, Any] | None = None


class _Job(msgspec.Struct):
    """The types of the fields that are read here, where upstream decodes the whole Job."""

    spec: _JobSpec | None = None


def mutate(request: Request, reader: Reader) -> None:
    """Fill in what the Job leaves out; a Job of wrong types is refused by its schema, after this."""
    try:
        msgspec.convert(request.document, _Job)
    except msgspec.ValidationError:
        return
    spec = request.document.setdefault("spec", {})
    spec["queue"] = spec.get("queue") or DEFAULT_QUEUE
    spec["schedulerName"] = spec.get("schedulerName") or SCHEDULER_NAME
    spec["maxRetry"] = spec.get("maxRetry") or DEFAULT_MAX_RETRY
    tasks: list[Document] = spec.get("tasks") or []
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
        task["minAvailable"] = least * partitions.get("partitionSize", 0) if least > 0 else task.get("replicas", 0)
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
