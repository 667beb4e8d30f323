"""The state of DynamicResources for one pod in one scheduling cycle."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from seatrial.model.documents import Document
from seatrial.scheduler.dra.allocator import Allocator
from seatrial.scheduler.dra.pod_claims import allocation_of

BEST_ALTERNATIVE = 8
"""What the first of several alternatives is worth; each later one is worth one less."""


@dataclass(frozen=True, slots=True)
class NodeAllocation:
    """What the pod would get on a node: one allocation per claim that has none."""

    results: tuple[Document, ...]
    extended_claim: Document | None = None
    """The claim for extended resources, as this node needs it."""
    mappings: tuple[Document, ...] = ()


@dataclass(slots=True)
class ClaimsState:
    """The claims of the pod; the one for its extended resources, if there is one, comes last."""

    claims: list[Document]
    user_claims: int
    allocator: Allocator | None = None
    """None where every claim is allocated."""
    chosen: dict[int, Document] = field(default_factory=dict)
    """Set by Reserve: the allocations to be written, by the claim's place."""
    unavailable: set[int] = field(default_factory=set)
    """Allocated claims that some node could not use; PostFilter may free them."""
    by_node: dict[str, NodeAllocation] = field(default_factory=dict)
    extended_uid: str = ""
    """The uid under which the claim for extended resources is in flight."""

    @property
    def extended(self) -> Document | None:
        return self.claims[-1] if len(self.claims) > self.user_claims else None

    def to_allocate(self) -> Iterator[tuple[int, Document]]:
        """Claims without an allocation, with their places."""
        for place, claim in enumerate(self.claims):
            if allocation_of(claim) is None:
                yield place, claim

    def score_problem(self, nodes: Iterable[str]) -> str:
        """Why a node cannot be scored if claims that were allocated before are taken for new ones; empty if all can."""
        for node in nodes:
            found = self.by_node.get(node)
            if found is not None and len(found.results) < len(self.claims):
                return f"number of allocations {len(found.results)} is smaller than number of claims"
        return ""

    def score(self, node: str) -> int:
        """The score for the alternatives of `firstAvailable` that the node allocates: earlier ones score higher."""
        allocation = self.by_node.get(node)
        if allocation is None:
            return 0
        pending = iter(allocation.results)
        return sum(_points(claim, allocation_of(claim) or next(pending)) for claim in self.claims)


def _points(claim: Document, allocation: Document) -> int:
    results = (allocation.get("devices") or {}).get("results") or ()
    taken = {result.get("request") for result in results}
    points = 0
    for request in (claim.get("spec") or {}).get("devices", {}).get("requests") or ():
        if request.get("exactly") is not None:
            continue
        for rank, alternative in enumerate(request.get("firstAvailable") or ()):
            if f"{request.get('name')}/{alternative.get('name')}" in taken:
                points += BEST_ALTERNATIVE - rank
    return points
