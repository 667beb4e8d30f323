"""Capacity questions, answered by the exact scheduler: how many more pods fit, how many nodes a scenario needs."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.capacity.input_files import read_node, read_pod
    from seatrial.capacity.nodes import count_nodes
    from seatrial.capacity.pods import count_pods
    from seatrial.capacity.refusals import Refusal
    from seatrial.capacity.trial import ScenarioFailedError, Setting

__all__ = ["Refusal", "ScenarioFailedError", "Setting", "count_nodes", "count_pods", "read_node", "read_pod"]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "Refusal": "refusals",
            "ScenarioFailedError": "trial",
            "Setting": "trial",
            "count_nodes": "nodes",
            "count_pods": "pods",
            "read_node": "input_files",
            "read_pod": "input_files",
        },
    )
