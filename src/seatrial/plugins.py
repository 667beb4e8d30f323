"""What a scheduler plugin in Python is made of: subclass `Plugin`, implement what you need, enable it by class name."""

from seatrial.scheduler.cache.node_info import NodeInfo
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.framework.interface import (
    Action,
    Handle,
    Narrowed,
    Plugin,
    Poll,
    PostFiltered,
    Reads,
    Requeue,
    Wait,
    requeue,
)
from seatrial.scheduler.framework.status import (
    SKIP,
    SUCCESS,
    Code,
    Status,
    Verdicts,
    error,
    unresolvable,
    unschedulable,
)

__all__ = [
    "SKIP",
    "SUCCESS",
    "Action",
    "Code",
    "Handle",
    "Narrowed",
    "NodeInfo",
    "Plugin",
    "PodInfo",
    "Poll",
    "PostFiltered",
    "Reads",
    "Requeue",
    "Status",
    "Verdicts",
    "Wait",
    "error",
    "requeue",
    "unresolvable",
    "unschedulable",
]
