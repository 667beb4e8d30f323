"""PodTopologyLabels: a bound pod carries the zone and region of its node as labels.

Upstream: plugin/pkg/admission/podtopologylabels (on by default since 1.35). A binding copies them as well:
`topology_labels` says which.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from seatrial.model.documents import Document
from seatrial.store.admission.namespaced_reader import Reader
from seatrial.store.objects import Stored
from seatrial.store.requests import Request
from seatrial.store.selection import LABELS

if TYPE_CHECKING:
    from seatrial.store.store import Store

TOPOLOGY: Final = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")
_DOMAIN: Final = b"topology.kubernetes.io/"
"""How both begin; nothing in it is escaped in JSON."""


def topology_labels(store: "Store", node: str, reader: Reader | None = None) -> dict[str, str]:
    """The labels that a pod takes over from its node."""
    found = (reader or Reader()).find(store, "v1", "Node", node)
    return taken_over(found) if found is not None else {}


def taken_over(node: Document) -> dict[str, str]:
    """The labels that pods take over from a node."""
    return _topology_of(node["metadata"].get("labels") or {})


def taken_over_from(node: Stored) -> dict[str, str]:
    """The same from a stored node, which is decoded only if one of the labels may be there."""
    return _topology_of(LABELS.read(node)) if _DOMAIN in node.data else {}


def _topology_of(labels: Mapping[str, str]) -> dict[str, str]:
    return {key: labels[key] for key in TOPOLOGY if key in labels}


def copy_topology_labels(request: Request, reader: Reader) -> None:
    """Label a pod that is made on a node."""
    if request.operation != "CREATE" or request.subresource:
        return
    node = (request.document.get("spec") or {}).get("nodeName")
    if node and (labels := topology_labels(request.store, node, reader)):
        metadata = request.document["metadata"]
        metadata["labels"] = {**(metadata.get("labels") or {}), **labels}
