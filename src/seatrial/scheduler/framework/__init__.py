"""The scheduling framework: the plugin interface, the profile that runs plugins, and their answers.

Upstream: pkg/scheduler/framework and its runtime.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.scheduler.framework.cluster import Client, Cluster, EmptyCluster
    from seatrial.scheduler.framework.interface import Handle, Narrowed, Plugin, Reads
    from seatrial.scheduler.framework.plugin_calls import FilterCall, ScoreCall
    from seatrial.scheduler.framework.runtime import CycleState, Framework
    from seatrial.scheduler.framework.status import MISSING, Code, Status, Verdicts

__all__ = [
    "MISSING",
    "Client",
    "Cluster",
    "Code",
    "CycleState",
    "EmptyCluster",
    "FilterCall",
    "Framework",
    "Handle",
    "Narrowed",
    "Plugin",
    "Reads",
    "ScoreCall",
    "Status",
    "Verdicts",
]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "Client": "cluster",
            "Cluster": "cluster",
            "Code": "status",
            "CycleState": "runtime",
            "EmptyCluster": "cluster",
            "FilterCall": "plugin_calls",
            "Framework": "runtime",
            "Handle": "interface",
            "MISSING": "status",
            "Narrowed": "interface",
            "Plugin": "interface",
            "Reads": "interface",
            "ScoreCall": "plugin_calls",
            "Status": "status",
            "Verdicts": "status",
        },
    )
