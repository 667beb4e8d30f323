"""Capacity questions, answered by the exact scheduler: how many more pods fit, how many nodes a scenario needs."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.capacity.input_files import read_node, read_pod
    from seatrial.capacity.nodes import count_nodes
    from seatrial.capacity.pods import count_pods
    from seatrial.capacity.refusals import Refusal
    from seatrial.capacity.trial import ScenarioFailedError, Setting
else:
    __getattr__, __dir__ = lazy_exports(__name__)
