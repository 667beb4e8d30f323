"""What all devices of a node have in common. Upstream: pkg/scheduler/api/shared_device_pool.go (Devices)."""

from collections.abc import Mapping
from typing import Protocol

from seatrial.scheduler.cache import PodInfo

Annotations = dict[str, str]


class Devices(Protocol):
    """The devices of one kind of one node, and what each pod holds of them."""

    score: float
    """What the last pod that fitted gives the node."""

    def asks(self, pod: PodInfo) -> bool:
        """Whether a pod wants such devices."""
        ...

    def add(self, pod: PodInfo) -> None:
        """A pod came to the node; it holds what its annotations say."""
        ...

    def remove(self, pod: PodInfo) -> None:
        """A pod left the node."""
        ...

    def refusal(self, pod: PodInfo, policy: str) -> str:
        """Why a pod that asks does not fit; empty where it does. Nothing is changed."""
        ...

    def passed(self, pod: PodInfo, policy: str) -> None:
        """A pod was found to fit: notes what it gives the node."""
        ...

    def allocate(self, pod: PodInfo) -> Annotations | None:
        """Gives a pod devices: the annotations that say which; None where there are none for it."""
        ...

    def release(self, pod: PodInfo) -> tuple[str, ...]:
        """Takes devices back: the annotations that no longer hold."""
        ...

    def held_by(self, pod: PodInfo) -> Mapping[str, float]:
        """What a pod holds of resources of queues, in thousandths; what is left out is as the pod requests it."""
        ...
