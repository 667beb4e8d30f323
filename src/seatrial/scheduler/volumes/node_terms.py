"""Node selectors of volumes, device slices and allocated claims, as their documents have them.

The same few selectors are asked about every node, so each is parsed once and known by its document's identity.
"""

from seatrial.model.documents import Document
from seatrial.scheduler.cache.node_selectors import NamedNode, NodeSelector
from seatrial.store import Memo

_MOST_PARSED = 16_384
_parsed: Memo[int, tuple[Document, NodeSelector]] = Memo(_MOST_PARSED)


def selects(selector: Document | None, node: NamedNode) -> bool:
    """Whether a node selector picks the node; an absent one picks every node."""
    if selector is None:
        return True
    known = _parsed.get(id(selector))
    if known is None or known[0] is not selector:
        known = _parsed[id(selector)] = (selector, NodeSelector(selector.get("nodeSelectorTerms") or ()))
    return known[1].matches(node)
