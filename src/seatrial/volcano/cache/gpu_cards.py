"""The GPU cards of a node that pods share by memory, or hold whole by number.

Upstream: pkg/scheduler/api/devices/nvidia/gpushare.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from seatrial.model.documents import Document
from seatrial.model.quantity import quantity_value

GPU_MEMORY = "volcano.sh/gpu-memory"
GPU_NUMBER = "volcano.sh/gpu-number"
GPU_INDEX = "volcano.sh/gpu-index"
PREDICATE_TIME = "volcano.sh/predicate-time"
UNHEALTHY = "volcano.sh/gpu-unhealthy-ids"


@dataclass(slots=True)
class GpuCards:
    """The healthy cards of one node, and what each pod takes of each."""

    memory: int
    """Of each card."""
    held: dict[int, dict[str, int]] = field(default_factory=dict)
    """By card and uid of the pod, the memory it takes; a pod that has ended takes none, but holds the card."""

    @classmethod
    def read(cls, node: Document) -> "GpuCards | None":
        """The cards of a node; None if it has no cards."""
        capacity = (node.get("status") or {}).get("capacity") or {}
        if GPU_MEMORY not in capacity or not (number := quantity_value(capacity.get(GPU_NUMBER, 0))):
            return None
        noted = (node["metadata"].get("annotations") or {}).get(UNHEALTHY, "")
        ill = {int(part) for part in noted.split(",") if part.isdecimal()}
        return cls(quantity_value(capacity[GPU_MEMORY]) // number, {i: {} for i in range(number) if i not in ill})

    def with_memory(self, memory: int) -> list[int]:
        """The cards that have this much left, lowest first."""
        return [card for card, pods in self.held.items() if self.memory - sum(pods.values()) >= memory]

    def idle(self, number: int) -> list[int]:
        """So many cards without a pod, lowest first; none where there are fewer. Upstream takes any."""
        found = [card for card, pods in self.held.items() if not pods]
        return found[:number] if len(found) >= number else []

    def put(self, uid: str, cards: list[int], memory: int) -> None:
        for card in cards:
            if card in self.held:
                self.held[card][uid] = memory

    def remove(self, uid: str) -> None:
        for pods in self.held.values():
            pods.pop(uid, None)


def limit_of(spec: Document, name: str) -> int:
    """What a pod asks of a resource by its limits: the sum of its containers, or the largest init container."""

    def asked(container: Document) -> int:
        return quantity_value(((container.get("resources") or {}).get("limits") or {}).get(name, 0))

    together = sum(map(asked, spec.get("containers") or ()))
    return max(together, max(map(asked, spec.get("initContainers") or ()), default=0))


def cards_of(annotations: Mapping[str, str]) -> list[int]:
    """The cards a pod was given."""
    parts = annotations.get(GPU_INDEX, "").split(",")
    return [int(part) for part in parts] if all(part.isdecimal() for part in parts) else []
