"""Scores a node by how much of its storage the volumes of a pod would use (StorageCapacityScoring).

Upstream: pkg/scheduler/framework/plugins/volumebinding/scorer.go and volume_binding.go (Score).
"""

from collections.abc import Sequence

from seatrial.model.documents import Document
from seatrial.model.quantity import quantity_value
from seatrial.scheduler.plugins.node_resources.resource_allocation import RequestedToCapacityRatio
from seatrial.scheduler.volumes.binder import PodVolumes
from seatrial.scheduler.volumes.claims import class_of, requested_storage, spec_of


class CapacityScore:
    """A broken line over the utilization of each storage class, and the mean over the classes."""

    def __init__(self, shape: Sequence[Document]) -> None:
        self._line = RequestedToCapacityRatio(shape).line

    def __call__(self, volumes: PodVolumes) -> int:
        """The score of a node on which these volumes would be bound or provisioned."""
        by_class: dict[str, tuple[int, int]] = {}
        if volumes.bindings:
            for volume, claim in volumes.bindings:
                requested, capacity = by_class.get(class_of(volume), (0, 0))
                offered = quantity_value((spec_of(volume).get("capacity") or {}).get("storage") or "0")
                by_class[class_of(volume)] = requested + _size(claim), capacity + offered
        else:
            for claim, published in zip(volumes.provisions, volumes.capacities, strict=True):
                if published is not None:
                    requested, _ = by_class.get(class_of(claim), (0, 0))
                    offered = quantity_value(published.get("capacity") or "0")
                    by_class[class_of(claim)] = requested + _size(claim), offered
        if not by_class:
            return 0
        total = sum(self._score(requested, capacity) for requested, capacity in by_class.values())
        return int(total / len(by_class) + 0.5)

    def _score(self, requested: int, capacity: int) -> int:
        is_full = capacity == 0 or requested > capacity
        return self._line[100 if is_full else requested * 100 // capacity]


def _size(claim: Document) -> int:
    size = requested_storage(claim)
    return 0 if size is None else size.value()
