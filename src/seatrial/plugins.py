"""What a user's scheduler plugin needs: `from seatrial.plugins import Plugin`."""

from seatrial.scheduler.extension import Action, Narrowed, Plugin, PostFiltered, Reads, Requeue, Wait, requeue
from seatrial.scheduler.node import NodeInfo
from seatrial.scheduler.nodes import Nodes
from seatrial.scheduler.pods import PodInfo
from seatrial.scheduler.verdict import (
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
    "Narrowed",
    "NodeInfo",
    "Nodes",
    "Plugin",
    "PodInfo",
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
