"""The scheduler's copy of the cluster: nodes as columns, pods as rows, kept up to date by store events.

Upstream: pkg/scheduler/backend/cache and eventhandlers.go.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.scheduler.cache.event_handlers import EventHandlers
    from seatrial.scheduler.cache.node_info import NodeInfo
    from seatrial.scheduler.cache.node_table import Nodes, NodeTable
    from seatrial.scheduler.cache.pod_info import PodInfo, PodReader, PodShape, replace_pod
    from seatrial.scheduler.cache.pod_requests import PODS, is_scalar, requests_of
    from seatrial.scheduler.cache.row_names import NodeNames, RowNames
    from seatrial.scheduler.cache.store_cluster import StoreCluster

__all__ = [
    "PODS",
    "EventHandlers",
    "NodeInfo",
    "NodeNames",
    "NodeTable",
    "Nodes",
    "PodInfo",
    "PodReader",
    "PodShape",
    "RowNames",
    "StoreCluster",
    "is_scalar",
    "replace_pod",
    "requests_of",
]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "NodeInfo": "node_info",
            "NodeNames": "row_names",
            "NodeTable": "node_table",
            "Nodes": "node_table",
            "PODS": "pod_requests",
            "PodInfo": "pod_info",
            "PodReader": "pod_info",
            "PodShape": "pod_info",
            "RowNames": "row_names",
            "StoreCluster": "store_cluster",
            "EventHandlers": "event_handlers",
            "is_scalar": "pod_requests",
            "replace_pod": "pod_info",
            "requests_of": "pod_requests",
        },
    )
