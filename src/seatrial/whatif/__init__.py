"""What would happen to a cluster: drain, outage, upgrade, nodes added and removed, workloads scaled; by workload."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.whatif.answer import COLUMNS, Answer, answer_of
    from seatrial.whatif.questions import Drained, add_nodes, drain, outage, remove, scale, upgrade
    from seatrial.whatif.selection import NodeChoice, find_nodes, find_workload, nodes_in
else:
    __getattr__, __dir__ = lazy_exports(__name__)
