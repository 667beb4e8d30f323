"""The part of a kubelet that lifecycle stages do not describe; `serve` has one, a run has none."""

from typing import Protocol

from seatrial.model.documents import Document
from seatrial.store import Stored


class Kubelet(Protocol):
    """Admits pods to their nodes, and knows their addresses."""

    def rejects(self, pod: Stored) -> bool:
        """Whether the node cannot run a pod that arrives at it; the pod's status then says so."""

    def reported(self, pod: Stored) -> Document:
        """The fields that the kubelet adds to the status of a pod that has none of its addresses yet."""

    def time_to_wait(self, pod: Stored) -> int:
        """How long, in microseconds, the kubelet does nothing for a pod: its containers are stopping, or requests of
        the kubelet are due before."""
