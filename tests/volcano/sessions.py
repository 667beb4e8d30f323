"""Builders for scheduling sessions: plain documents, and a run of one cycle."""

from typing import Any

from seatrial.model.documents import Document
from seatrial.scheduler.cache.pod_info import PodReader
from seatrial.volcano.cache.cluster_info import read_tasks, take_snapshot
from seatrial.volcano.cache.task_info import TaskInfo
from seatrial.volcano.config.scheduler_conf import SchedulerConf, helm_conf, load_conf
from seatrial.volcano.cycle import run_once
from seatrial.volcano.framework.job_updater import SessionResult
from seatrial.volcano.framework.session import Session, SessionOptions

READER = PodReader()


def node(name: str, cpu: str = "8", memory: str = "32Gi", pods: str = "110", **resources: str) -> Document:
    allocatable = {"cpu": cpu, "memory": memory, "pods": pods, **resources}
    return {"metadata": {"name": name}, "status": {"allocatable": allocatable, "capacity": allocatable}}


def pod(
    name: str,
    group: str = "",
    cpu: str = "1",
    on: str = "",
    role: str = "",
    created: int = 0,
    annotations: dict[str, str] | None = None,
    labels: dict[str, str] | None = None,
    status: Document | None = None,
    **spec: Any,
) -> Document:
    notes = {"scheduling.k8s.io/group-name": group} if group else {}
    if role:
        notes["volcano.sh/task-spec"] = role
    requests = {"cpu": cpu, "memory": "1Gi"} if cpu != "0" else {}
    container = {"name": "main", "image": "busybox", "resources": {"requests": requests}}
    return {
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": f"uid-{name}",
            "creationTimestamp": f"2026-01-01T00:{created // 60:02d}:{created % 60:02d}Z",
            "annotations": notes | (annotations or {}),
            "labels": labels or {},
        },
        "spec": {
            "schedulerName": "volcano",
            "containers": [container],
            **({"nodeName": on} if on else {}),
            **spec,
        },
        "status": {"phase": "Running" if on else "Pending", **(status or {})},
    }


def group(name: str, least: int = 1, queue: str = "default", phase: str = "Inqueue", **spec: Any) -> Document:
    return {
        "metadata": {"name": name, "namespace": "default", "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"minMember": least, "queue": queue, **spec},
        "status": {"phase": phase},
    }


def queue(name: str = "default", weight: int = 1, state: str = "Open", **spec: Any) -> Document:
    return {"metadata": {"name": name}, "spec": {"weight": weight, **spec}, "status": {"state": state}}


def task_of(name: str = "t-0", role: str = "") -> TaskInfo:
    (task,) = read_tasks([pod(name, "job", role=role)], READER)
    return task


def cycle(
    nodes: list[Document],
    pods: list[Document],
    groups: list[Document],
    queues: list[Document] | None = None,
    conf: str | SchedulerConf | None = None,
    options: SessionOptions | None = None,
    **others: Any,
) -> tuple[Session, SessionResult]:
    """One cycle of the scheduler on some documents."""
    chosen = load_conf(conf) if isinstance(conf, str) else conf or helm_conf()
    cluster = take_snapshot(nodes, read_tasks(pods, READER), groups, queues or [queue()], **others)
    return run_once("cycle", cluster, chosen, options)


def binds(result: SessionResult) -> dict[str, str]:
    return {task.name: task.node_name for task in result.binds}
