"""Capacity questions, answered by the exact scheduler: how many more pods fit, how many nodes a scenario needs."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.capacity.fit import FitAnswer, fit_objects
    from seatrial.capacity.input_files import read_node, read_objects, read_pod
    from seatrial.capacity.mix import MixAnswer, find_mix
    from seatrial.capacity.nodes import NodeAnswer, Shortage, count_nodes
    from seatrial.capacity.pods import PodAnswer, count_pods
    from seatrial.capacity.refusals import Refusal
    from seatrial.capacity.trial import ScenarioFailedError, Setting
else:
    __getattr__, __dir__ = lazy_exports(__name__)
