"""Zone disruption: stops evictions where too many nodes of a zone are not ready at once.

Upstream: pkg/controller/nodelifecycle (ComputeZoneState, handleDisruption; v1.36). Evictions stop when every zone has
lost all its nodes, and in a small zone that has lost more than half of them; in a large one they only slow down.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from seatrial.model.documents import Document

UNHEALTHY_SHARE = 0.55
SMALL_ZONE = 50
EXCLUDED = "node.kubernetes.io/exclude-disruption"
REGION = ("topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region")
Place = tuple[str, bool]
"""The zone of a node, and whether it is ready."""
ZONE = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")


def zone_of(node: Document) -> str:
    """The zone of a node, unique over regions."""
    return _zone_in(node["metadata"].get("labels") or {})


def place_of(labels: Mapping[str, str], ready: str) -> Place | None:
    """The zone of a node and whether it is ready, by its Ready condition; None where it does not count."""
    return None if EXCLUDED in labels or not ready else (_zone_in(labels), ready == "True")


def _zone_in(labels: Mapping[str, str]) -> str:
    region, zone = (next((labels[key] for key in keys if labels.get(key)), "") for keys in (REGION, ZONE))
    return f"{region}:{zone}"


@dataclass(slots=True)
class Zones:
    """How many nodes of each zone are ready."""

    nodes: dict[str, Place] = field(default_factory=dict)
    ready: Counter[str] = field(default_factory=Counter)
    unready: Counter[str] = field(default_factory=Counter)

    def put(self, name: str, place: Place | None) -> None:
        """A node as it is now; None where it is gone or does not count."""
        self.take_out(name)
        if place is not None:
            zone, is_ready = self.nodes[name] = place
            (self.ready if is_ready else self.unready)[zone] += 1

    def take_out(self, name: str) -> None:
        zone, is_ready = self.nodes.pop(name, ("", False))
        counter = self.ready if is_ready else self.unready
        if counter[zone] > 0:
            counter[zone] -= 1

    def all_are_lost(self) -> bool:
        """Every zone has nodes, and none of them is ready."""
        return not any(self.ready.values()) and any(self.unready.values())

    def evicts(self, zone: str) -> bool:
        """Whether pods leave the nodes of a zone that are not ready."""
        if self.all_are_lost():
            return False
        unready, total = self.unready[zone], self.unready[zone] + self.ready[zone]
        is_partial = self.ready[zone] > 0 and unready > 2 and unready / total >= UNHEALTHY_SHARE
        return not is_partial or total > SMALL_ZONE

    def verdicts(self) -> dict[str, bool]:
        """For each zone, whether it evicts."""
        return {zone: self.evicts(zone) for zone in dict.fromkeys([*self.ready, *self.unready])}
