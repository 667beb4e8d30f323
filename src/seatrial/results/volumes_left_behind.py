"""Which pending pods wait for a volume that no node of those that are left can use."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from seatrial.model.documents import Document, decode
from seatrial.model.label_selectors import NodeSelectorTerm


@dataclass(slots=True)
class Volumes:
    """Claims, volumes and nodes as they were last written; decoded where a pod is asked about."""

    claims: dict[tuple[str, str], str] = field(default_factory=dict)
    volumes: dict[tuple[str, str], str] = field(default_factory=dict)
    nodes: dict[str, Mapping[str, str]] = field(default_factory=dict)
    """The labels of the nodes that are ready and not cordoned."""

    def take(self, namespace: str, name: str, data: str | None) -> None:
        """Note a write of a claim, or of a volume, which has no namespace."""
        known = self.claims if namespace else self.volumes
        known.pop((namespace, name), None)
        if data is not None:
            known[namespace, name] = data

    def is_left_behind(self, pod: str) -> bool:
        """Whether a pod, as JSON, has a bound volume that none of the nodes can use."""
        document: Document = decode(pod)
        namespace = document["metadata"].get("namespace", "default")
        for volume in document["spec"].get("volumes") or ():
            claim = (volume.get("persistentVolumeClaim") or {}).get("claimName")
            if claim and not self._has_node(self._terms(namespace, claim)):
                return True
        return False

    def _terms(self, namespace: str, claim: str) -> list[NodeSelectorTerm] | None:
        """The terms of a claim's volume, one of which a node must match; None: any node will do."""
        found = self.claims.get((namespace, claim))
        volume = self.volumes.get(("", (decode(found)["spec"].get("volumeName") or "") if found else ""))
        required = ((decode(volume)["spec"].get("nodeAffinity") or {}).get("required")) if volume else None
        return None if required is None else [NodeSelectorTerm(term) for term in required["nodeSelectorTerms"]]

    def _has_node(self, terms: Iterable[NodeSelectorTerm] | None) -> bool:
        if terms is None:
            return True
        return any(term.matches(labels, name) for term in terms for name, labels in self.nodes.items())
