"""What would happen to a cluster: drain, outage, upgrade, nodes added and removed, workloads scaled; by workload."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.whatif.answer import COLUMNS, Answer, answer_of
    from seatrial.whatif.questions import POD_START, Questions
    from seatrial.whatif.selection import NodeChoice
else:
    __getattr__, __dir__ = lazy_exports(__name__)
