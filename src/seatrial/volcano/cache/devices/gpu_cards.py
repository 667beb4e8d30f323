"""The GPU cards of a node that pods share by memory, or hold whole by number.

Upstream: pkg/scheduler/api/devices/nvidia/gpushare.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from seatrial.model.documents import Document
from seatrial.model.quantity import quantity_value
from seatrial.scheduler.cache import PodInfo
from seatrial.volcano.cache.devices.interface import Annotations

GPU_MEMORY = "volcano.sh/gpu-memory"
GPU_NUMBER = "volcano.sh/gpu-number"
GPU_INDEX = "volcano.sh/gpu-index"
PREDICATE_TIME = "volcano.sh/predicate-time"
UNHEALTHY = "volcano.sh/gpu-unhealthy-ids"
NANOSECONDS = 1000
"""In a microsecond, the unit of the clock."""


@dataclass(slots=True)
class GpuCards:
    """The healthy cards of one node, and what each pod takes of each."""

    node: str
    memory: int
    """Of each card."""
    by_memory: bool
    """Whether pods share cards; else they hold whole ones."""
    now: int
    held: dict[int, dict[str, int]] = field(default_factory=dict)
    """By card and uid of the pod, the memory it takes; a pod that has ended takes none, but holds the card."""
    score: float = 0.0
    """Cards do not score."""

    @classmethod
    def read(cls, node: Document, by_memory: bool, now: int) -> "GpuCards | None":
        """The cards of a node; None if it has no cards."""
        capacity = (node.get("status") or {}).get("capacity") or {}
        if GPU_MEMORY not in capacity or not (number := quantity_value(capacity.get(GPU_NUMBER, 0))):
            return None
        metadata = node["metadata"]
        noted = (metadata.get("annotations") or {}).get(UNHEALTHY, "")
        ill = {int(part) for part in noted.split(",") if part.isdecimal()}
        memory = quantity_value(capacity[GPU_MEMORY]) // number
        return cls(metadata["name"], memory, by_memory, now, {i: {} for i in range(number) if i not in ill})

    def asks(self, pod: PodInfo) -> bool:
        return limit_of(pod.spec, GPU_MEMORY if self.by_memory else GPU_NUMBER) > 0

    def add(self, pod: PodInfo) -> None:
        memory = limit_of(pod.spec, GPU_MEMORY)
        if memory or limit_of(pod.spec, GPU_NUMBER):
            self._put(pod, cards_of(pod.annotations))

    def remove(self, pod: PodInfo) -> None:
        if limit_of(pod.spec, GPU_MEMORY) or limit_of(pod.spec, GPU_NUMBER):
            self.release(pod)

    def refusal(self, pod: PodInfo, policy: str) -> str:
        if self.by_memory:
            return "" if self._for(pod) else f"GpuShare no enough gpu memory on node {self.node}"
        found = self._idle(limit_of(pod.spec, GPU_NUMBER))
        return "" if found else f"GpuNumber no enough gpu number on node {self.node}"

    def passed(self, pod: PodInfo, policy: str) -> None:
        pass

    def allocate(self, pod: PodInfo) -> Annotations | None:
        chosen = self._for(pod)
        if not chosen:
            return None
        self._put(pod, chosen)
        return {PREDICATE_TIME: str(self.now * NANOSECONDS), GPU_INDEX: ",".join(map(str, chosen))}

    def release(self, pod: PodInfo) -> tuple[str, ...]:
        for card in cards_of(pod.annotations) or list(self.held):
            self.held.get(card, {}).pop(pod.uid, None)
        return PREDICATE_TIME, GPU_INDEX

    def held_by(self, pod: PodInfo) -> Mapping[str, float]:
        return {}

    def _for(self, pod: PodInfo) -> list[int]:
        """The cards that a pod would be given."""
        memory = limit_of(pod.spec, GPU_MEMORY)
        if not memory:
            return self._idle(limit_of(pod.spec, GPU_NUMBER))
        return [card for card, pods in self.held.items() if max(self.memory - sum(pods.values()), 0) >= memory][:1]

    def _idle(self, number: int) -> list[int]:
        """So many cards without a pod, lowest first; none where there are fewer. Upstream takes any."""
        found = [card for card, pods in self.held.items() if not pods]
        return found[:number] if len(found) >= number else []

    def _put(self, pod: PodInfo, cards: list[int]) -> None:
        memory = 0 if pod.phase in ("Succeeded", "Failed") else limit_of(pod.spec, GPU_MEMORY)
        for card in cards:
            if card in self.held:
                self.held[card][pod.uid] = memory


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
