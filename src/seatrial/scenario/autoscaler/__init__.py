"""The built-in cluster-autoscaler: node groups that grow for pending pods and shrink when nodes are not needed.

Follows cluster-autoscaler of kubernetes/autoscaler: core/scaleup/orchestrator, estimator, expander, core/scaledown.
"""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.scenario.autoscaler.controller import ClusterAutoscaler
    from seatrial.scenario.autoscaler.flags import Flags, flags_of
    from seatrial.scenario.autoscaler.node_group import NODE_GROUP, NodeGroup, install_node_groups
else:
    __getattr__, __dir__ = lazy_exports(__name__)
