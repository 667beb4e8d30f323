"""HyperNodes: network domains in tiers, and which nodes are in each. Upstream: pkg/scheduler/api/hyper_node_info.go."""

from collections.abc import Iterable, Sequence

from seatrial.model.documents import Document
from seatrial.model.label_selectors import LabelSelector
from seatrial.model.regular_expressions import RegexError, regex
from seatrial.volcano.cache.node_info import NodeInfo

CLUSTER_TOP = "<cluster-top-hypernode>"
"""The virtual HyperNode above all others; every node is in it."""


class HyperNodeInfo:
    """One HyperNode in the tree."""

    def __init__(self, name: str, tier: int = 0, tier_name: str = "", members: Sequence[Document] = ()) -> None:
        self.name = name
        self.tier = tier
        self.tier_name = tier_name
        self.members = members
        self.parent = ""
        self.children: list[str] = []


class HyperNodes:
    """The tree of HyperNodes of a snapshot, with the virtual top."""

    def __init__(self, documents: Iterable[Document], nodes: Sequence[NodeInfo]) -> None:
        self.infos: dict[str, HyperNodeInfo] = {}
        self.is_ready = True
        """False where the tree is broken: then no job with a topology is scheduled."""
        self.real_nodes: dict[str, list[NodeInfo]] = {}
        for document in documents:
            spec = document.get("spec") or {}
            name = document["metadata"]["name"]
            members = spec.get("members") or ()
            self.infos[name] = HyperNodeInfo(name, spec.get("tier") or 0, spec.get("tierName") or "", members)
        self._link()
        by_name = {node.name: node for node in nodes}
        for name in sorted(self.infos):
            found = self._nodes_in(self.infos[name], nodes, ())
            self.real_nodes[name] = [by_name[n] for n in by_name if n in found]
        self.tier_names = {info.tier_name: info.tier for info in self.infos.values() if info.tier_name}
        self._add_top(nodes)

    def _link(self) -> None:
        """Sets parents and children; a HyperNode with two parents makes the tree unusable."""
        for name in list(self.infos):
            for member in self.infos[name].members:
                child = _exact(member) if member.get("type") == "HyperNode" else ""
                if not child:
                    continue
                info = self.infos.setdefault(child, HyperNodeInfo(child))
                if info.parent and info.parent != name:
                    self.is_ready = False
                    continue
                info.parent = name
                self.infos[name].children.append(child)

    def _nodes_in(self, info: HyperNodeInfo, nodes: Sequence[NodeInfo], above: tuple[str, ...]) -> set[str]:
        if info.name in above:
            self.is_ready = False
            return set()
        found: set[str] = set()
        for member in info.members:
            if member.get("type") == "Node":
                found |= _selected(member.get("selector") or {}, nodes)
            elif (child := self.infos.get(_exact(member))) is not None:
                found |= self._nodes_in(child, nodes, (*above, info.name))
        return found

    def _add_top(self, nodes: Sequence[NodeInfo]) -> None:
        tier = max([1, *(info.tier + 1 for info in self.infos.values())])
        top = HyperNodeInfo(CLUSTER_TOP, tier)
        for name in sorted(self.infos):
            if not self.infos[name].parent:
                self.infos[name].parent = CLUSTER_TOP
                top.children.append(name)
        self.infos[CLUSTER_TOP] = top
        self.real_nodes[CLUSTER_TOP] = list(nodes)
        by_tier: dict[int, list[str]] = {}
        for name in sorted(self.infos):
            by_tier.setdefault(self.infos[name].tier, []).append(name)
        self.by_tier = dict(sorted(by_tier.items()))

    @property
    def top(self) -> HyperNodeInfo:
        return self.infos[CLUSTER_TOP]

    def ancestors(self, name: str) -> list[str]:
        """A HyperNode and those above it, lowest first."""
        found = [name]
        while name in self.infos and self.infos[name].parent and self.infos[name].parent not in found:
            name = self.infos[name].parent
            found.append(name)
        return found

    def lowest_common(self, first: str, second: str) -> str:
        """The lowest HyperNode above both; the other one where one is empty (GetLCAHyperNode)."""
        if not first or not second:
            return first or second
        above = self.ancestors(first)
        return next((name for name in self.ancestors(second) if name in above), "")

    def lowest_of(self, node: str) -> str:
        """The HyperNode of the lowest tier that has a node (FindHyperNodeForNode)."""
        lowest = next(iter(self.by_tier.values()), [])
        for name in lowest:
            if any(entry.name == node for entry in self.real_nodes.get(name, ())):
                return name
        return ""


def _exact(member: Document) -> str:
    return str(((member.get("selector") or {}).get("exactMatch") or {}).get("name") or "")


def _selected(selector: Document, nodes: Sequence[NodeInfo]) -> set[str]:
    """The nodes a member selector picks: by name, by pattern, or by labels."""
    exact = (selector.get("exactMatch") or {}).get("name")
    if exact:
        return {exact}
    pattern = (selector.get("regexMatch") or {}).get("pattern")
    if pattern:
        try:
            compiled = regex(pattern)
        except RegexError:
            return set()
        return {node.name for node in nodes if compiled.matches(node.name)}
    labels = selector.get("labelMatch")
    if labels and (labels.get("matchLabels") or labels.get("matchExpressions")):
        wanted = LabelSelector.from_document(labels)
        return {node.name for node in nodes if wanted.matches(node.kube.labels)}
    return set()
