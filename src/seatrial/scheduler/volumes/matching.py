"""Which existing volume a claim is bound to: the one that names it, else the smallest that fits.

Upstream: component-helpers/storage/volume/pv_helpers.go (FindMatchingVolume).
"""

from collections.abc import Iterable

from seatrial.model.documents import Document
from seatrial.model.label_selectors import LabelSelector
from seatrial.model.quantity import Quantity
from seatrial.scheduler.cache.node_selectors import NamedNode
from seatrial.scheduler.volumes.claims import (
    capacity_of,
    class_of,
    is_bound_to,
    metadata_of,
    requested_storage,
    spec_of,
)
from seatrial.scheduler.volumes.node_terms import selects

_ZERO = Quantity(0)


class _Labels:
    """A node for volumes: they see labels only, never the name."""

    def __init__(self, node: NamedNode) -> None:
        self.name = ""
        self.labels = node.labels


def reachable(volume: Document, node: NamedNode) -> bool:
    """Whether the volume's node affinity holds for the node."""
    affinity = spec_of(volume).get("nodeAffinity") or {}
    return selects(affinity.get("required"), _Labels(node))


def find_volume(claim: Document, volumes: Iterable[Document], node: NamedNode, taken: set[str]) -> Document | None:
    """The volume to bind the claim to on the node, if there is one."""
    selector = spec_of(claim).get("selector")
    labels = None if selector is None else LabelSelector.from_document(selector)
    wanted = requested_storage(claim) or _ZERO
    smallest: Document | None = None
    smallest_size = _ZERO
    for volume in volumes:
        if metadata_of(volume).get("name") in taken or not _could_serve(claim, volume, wanted):
            continue
        if is_bound_to(volume, claim):
            return volume if reachable(volume, node) else None
        if (volume.get("status") or {}).get("phase") != "Available" or class_of(volume) != class_of(claim):
            continue
        if labels is not None and not labels.matches(metadata_of(volume).get("labels") or {}):
            continue
        if not reachable(volume, node) or not _access_modes_fit(claim, volume):
            continue
        size = capacity_of(volume)
        if smallest is None or smallest_size.compare(size) > 0:
            smallest, smallest_size = volume, size
    return smallest


def _could_serve(claim: Document, volume: Document, wanted: Quantity) -> bool:
    """What holds for a volume that names the claim, too."""
    claim_spec, spec = spec_of(claim), spec_of(volume)
    return (
        (spec.get("claimRef") is None or is_bound_to(volume, claim))
        and capacity_of(volume).compare(wanted) >= 0
        and (claim_spec.get("volumeMode") or "Filesystem") == (spec.get("volumeMode") or "Filesystem")
        and (claim_spec.get("volumeAttributesClassName") or "") == (spec.get("volumeAttributesClassName") or "")
        and metadata_of(volume).get("deletionTimestamp") is None
    )


def _access_modes_fit(claim: Document, volume: Document) -> bool:
    return set(spec_of(claim).get("accessModes") or ()) <= set(spec_of(volume).get("accessModes") or ())
