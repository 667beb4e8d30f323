"""The cluster as Volcano's scheduler sees it: jobs, tasks, nodes and queues. Upstream: pkg/scheduler/api and cache."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.volcano.cache.cluster_info import ClusterInfo, read_tasks, take_snapshot
    from seatrial.volcano.cache.job_info import JobInfo
    from seatrial.volcano.cache.numa_info import Numatopologies
    from seatrial.volcano.cache.resource_words import quantity
    from seatrial.volcano.cache.task_info import TaskInfo, TaskStatus
else:
    __getattr__, __dir__ = lazy_exports(__name__)
