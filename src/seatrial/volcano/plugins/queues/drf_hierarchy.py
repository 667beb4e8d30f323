"""Queues in a hierarchy with weights, each with the dominant share of what is below it.

Upstream: plugins/drf/drf.go (hierarchicalNode and what works on it).
"""

from dataclasses import dataclass, field

from seatrial.volcano.cache.job_info import JobInfo
from seatrial.volcano.cache.queue_info import QueueInfo
from seatrial.volcano.cache.resource import Resource, share


@dataclass(slots=True)
class DrfAttributes:
    """What a job or queue holds, and which share of the cluster that is."""

    allocated: Resource
    share: float = 0.0


@dataclass(slots=True)
class HierarchicalNode:
    """A queue, or as a leaf a job (`children` is None)."""

    hierarchy: str
    weight: float
    attributes: DrfAttributes
    request: Resource
    children: "dict[str, HierarchicalNode] | None"
    saturated: bool = False

    def clone(self) -> "HierarchicalNode":
        attributes = DrfAttributes(self.attributes.allocated.clone(), self.attributes.share)
        children = None
        if self.children is not None:
            children = {name: child.clone() for name, child in self.children.items()}
        return HierarchicalNode(self.hierarchy, self.weight, attributes, self.request.clone(), children, self.saturated)


def _root() -> HierarchicalNode:
    return HierarchicalNode("root", 1.0, DrfAttributes(Resource()), Resource(), {})


@dataclass(slots=True)
class Hierarchy:
    """The tree of queues and jobs."""

    total: Resource
    allocated: Resource = field(default_factory=Resource)
    root: HierarchicalNode = field(default_factory=_root)

    def clone(self) -> "Hierarchy":
        return Hierarchy(self.total, self.allocated.clone(), self.root.clone())

    def update(self, job: JobInfo, attributes: DrfAttributes, queue: QueueInfo) -> None:
        """Puts a job in its place, and brings all shares up to date."""
        demanding = {name for name in self.total.names() if self.allocated.get(name) < self.total.get(name)}
        self._place(job, attributes, queue)
        self._update(self.root, demanding)

    def _place(self, job: JobInfo, attributes: DrfAttributes, queue: QueueInfo) -> None:
        node = self.root
        paths, weights = queue.hierarchy.split("/"), queue.weights.split("/")
        for place in range(1, len(paths)):
            assert node.children is not None
            child = node.children.get(paths[place])
            if child is None:
                weight = _weight(weights[place] if place < len(weights) else "")
                child = HierarchicalNode(paths[place], weight, DrfAttributes(Resource()), Resource(), {})
                node.children[paths[place]] = child
            node = child
        request = Resource()
        for task in job.index.tasks.values():
            request.add(task.resreq)
        assert node.children is not None
        node.children[job.uid] = HierarchicalNode(job.uid, 1.0, attributes, request, None)

    def _share(self, allocated: Resource) -> float:
        shares = (share(allocated.get(name), self.total.get(name)) for name in self.total.names())
        return max((0.0, *shares))

    def _update(self, node: HierarchicalNode, demanding: set[str]) -> None:
        if node.children is None:
            node.saturated = _is_saturated(node.attributes.allocated, node.request, demanding)
            return
        smallest = 1.0
        for child in node.children.values():
            self._update(child, demanding)
            if child.attributes.share != 0 and not child.saturated:
                smallest = min(smallest, self._share(child.attributes.allocated))
        allocated = Resource()
        saturated = True
        for child in node.children.values():
            saturated &= child.saturated
            if child.attributes.share == 0:
                continue
            amount = child.attributes.allocated
            allocated.add(amount if child.saturated else amount.clone().multiply(smallest / child.attributes.share))
        node.attributes.allocated = allocated
        node.attributes.share = self._share(allocated)
        node.saturated = saturated

    def compare(self, left: QueueInfo, right: QueueInfo) -> float:
        """Negative where the left queue goes first: level by level, saturated ones last, then by share per weight."""
        one = other = self.root
        paths, others = left.hierarchy.split("/"), right.hierarchy.split("/")
        depth = min(len(paths), len(others))
        for place in range(depth):
            if one.saturated != other.saturated:
                return 1.0 if one.saturated else -1.0
            mine, theirs = one.attributes.share / one.weight, other.attributes.share / other.weight
            if mine != theirs:
                return mine - theirs
            if place < depth - 1:
                assert one.children is not None and other.children is not None
                one, other = one.children[paths[place + 1]], other.children[others[place + 1]]
        return 0.0


def _is_saturated(allocated: Resource, request: Resource, demanding: set[str]) -> bool:
    """Whether a job has all it asks for of some resource, or asks for one that is exhausted."""
    for name in allocated.names():
        held, wanted = allocated.get(name), request.get(name)
        if wanted and (held >= wanted or name not in demanding):
            return True
    return False


def _weight(text: str) -> float:
    try:
        return max(float(text), 1.0)
    except ValueError:
        return 1.0
