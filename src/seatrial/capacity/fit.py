"""Whether several objects fit as they are, workloads with their replicas, and how many nodes must be added for them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from seatrial.capacity.nodes import NodeAnswer, Search, Shortage, count_nodes
from seatrial.capacity.trial import Setting
from seatrial.model.documents import Document
from seatrial.words import counted


@dataclass(frozen=True, slots=True)
class FitAnswer:
    """Whether all pods of the objects have nodes; otherwise what the first one lacks, and the nodes that help."""

    objects: int
    shortage: Shortage | None
    nodes: NodeAnswer | None = None
    """None where all fit, or where no kind of node was named."""

    @property
    def fits(self) -> bool:
        return self.shortage is None

    @property
    def sentence(self) -> str:
        what = counted(self.objects, "object")
        if self.shortage is None:
            return f"All pods of {what} fit."
        more = f" (and {self.shortage.pods - 1} more)" if self.shortage.pods > 1 else ""
        said = f"The pods of {what} do not all fit: {self.shortage.pod}{more} {self.shortage.why}"
        if self.nodes is None:
            return f"{said}."
        if self.nodes.nodes is None:
            return f"{said}. {self.nodes.sentence}"
        return f"{said}; with {self.nodes.nodes} more of {self.nodes.node} they do."


def fit_objects(
    setting: Setting, objects: Sequence[Document], node: Document | None, limit: int,
    advance: Callable[[int, int], None] = lambda *_: None,
) -> FitAnswer:  # fmt: skip
    """Create the objects in the cluster; pods of its own that are pending do not count."""
    setting = replace(setting, then=objects)
    search = Search(setting, (), advance)
    search.is_enough(())
    shortage = search.shortages.get(())
    needed = None
    if shortage is not None and node is not None:
        needed = count_nodes(setting, node, limit, add=True, advance=advance)
    return FitAnswer(len(objects), shortage, needed)
