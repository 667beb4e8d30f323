"""The part of a kubelet that lifecycle stages do not describe; `serve` has one, a run has none."""

from typing import Protocol

from seatrial.model.documents import Document
from seatrial.store import Stored


class Kubelet(Protocol):
    """Admits pods to their nodes, and knows their addresses."""

    def rejects(self, pod: Stored) -> bool:
        """Whether the node cannot run a pod that arrives at it; the pod's status then says so."""

    def addresses(self, pod: Stored) -> Document:
        """The fields of the pod's status that hold addresses which it does not have yet."""

    def time_to_stop(self, pod: Stored) -> int:
        """How long, in microseconds, the containers of a pod that is being deleted still need."""
