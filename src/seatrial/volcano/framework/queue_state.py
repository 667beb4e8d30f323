"""What a queue holds, deserves and may have at the end of a session, as it is recorded.

Amounts are in the units of a manifest: cores, bytes, pieces. A resource without a limit is left out of `capability`.
"""

from dataclasses import dataclass, field

from seatrial.model.documents import Document
from seatrial.volcano.cache.resource import CPU, MAX_FLOAT, MAX_INT64, MEMORY, PODS, Resource

Amounts = dict[str, float]


@dataclass(slots=True)
class QueueState:
    """One queue."""

    parent: str = ""
    weight: int = 0
    deserved: Resource = field(default_factory=Resource)
    allocated: Resource = field(default_factory=Resource)
    guarantee: Resource = field(default_factory=Resource)
    capability: Resource = field(default_factory=Resource)
    inqueue: Resource = field(default_factory=Resource)
    share: float = 0.0
    overused: bool = False
    jobs: dict[str, int] = field(default_factory=dict)
    """How many PodGroups are in each phase."""

    def document(self) -> Document:
        amounts = ("deserved", "allocated", "guarantee", "capability", "inqueue")
        return {
            "parent": self.parent,
            "weight": self.weight,
            **{name: amounts_of(getattr(self, name)) for name in amounts},
            "share": self.share,
            "overused": self.overused,
            "jobs": dict(sorted(self.jobs.items())),
        }


def amounts_of(resource: Resource) -> Amounts:
    """All amounts but those that are 0 or without a limit."""
    found = {CPU: resource.cpu / 1000, MEMORY: resource.memory}
    for name, amount in sorted((resource.scalars or {}).items()):
        found[name] = amount if name == PODS or amount == MAX_INT64 else amount / 1000
    limits = (MAX_FLOAT, MAX_FLOAT / 1000, MAX_INT64, MAX_INT64 / 1000)
    return {name: amount for name, amount in found.items() if amount and amount not in limits}
