"""PodTopologyLabels: a bound pod carries the zone and region of its node as labels.

Upstream: plugin/pkg/admission/podtopologylabels (on by default since 1.35). A binding copies them as well:
`topology_labels` says which.
"""

from typing import TYPE_CHECKING, Final

from seatrial.model.documents import Document
from seatrial.store.admission.namespaced_reader import Reader
from seatrial.store.requests import Request

if TYPE_CHECKING:
    from seatrial.store.store import Store

TOPOLOGY: Final = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")


def topology_labels(store: "Store", node: str, reader: Reader | None = None) -> dict[str, str]:
    """The labels that a pod takes over from its node."""
    found = (reader or Reader()).find(store, "v1", "Node", node)
    return taken_over(found) if found is not None else {}


def taken_over(node: Document) -> dict[str, str]:
    """The labels that pods take over from a node."""
    labels = node["metadata"].get("labels") or {}
    return {key: labels[key] for key in TOPOLOGY if key in labels}


def copy_topology_labels(request: Request, reader: Reader) -> None:
    """Label a pod that is made on a node."""
    if request.operation != "CREATE" or request.subresource:
        return
    node = (request.document.get("spec") or {}).get("nodeName")
    if node and (labels := topology_labels(request.store, node, reader)):
        metadata = request.document["metadata"]
        metadata["labels"] = {**(metadata.get("labels") or {}), **labels}
