"""The scheduler's copy of the cluster: nodes as columns, pods as rows, kept up to date by store events.

Upstream: pkg/scheduler/backend/cache and eventhandlers.go.
"""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.scheduler.cache.node_info import NodeInfo
    from seatrial.scheduler.cache.node_table import Nodes, NodeTable
    from seatrial.scheduler.cache.pod_info import PodInfo, PodReader, PodShape, replace_pod
    from seatrial.scheduler.cache.pod_requests import PODS, is_scalar, requests_of
    from seatrial.scheduler.cache.row_names import NodeNames, RowNames
    from seatrial.scheduler.cache.store_cluster import StoreCluster
else:
    __getattr__, __dir__ = lazy_exports(__name__)
