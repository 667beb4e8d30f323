"""The cluster as Volcano's scheduler sees it: jobs, tasks, nodes and queues. Upstream: pkg/scheduler/api and cache."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.volcano.cache.cluster_info import ClusterInfo, read_tasks, take_snapshot
    from seatrial.volcano.cache.job_info import JobInfo
    from seatrial.volcano.cache.numa_info import Numatopologies
    from seatrial.volcano.cache.task_info import TaskInfo, TaskStatus

__all__ = ["ClusterInfo", "JobInfo", "Numatopologies", "TaskInfo", "TaskStatus", "read_tasks", "take_snapshot"]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "ClusterInfo": "cluster_info",
            "Numatopologies": "numa_info",
            "JobInfo": "job_info",
            "TaskInfo": "task_info",
            "TaskStatus": "task_info",
            "read_tasks": "cluster_info",
            "take_snapshot": "cluster_info",
        },
    )
