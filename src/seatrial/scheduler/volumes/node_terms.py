"""Node selectors of volumes, device slices and allocated claims, as their documents have them."""

from functools import lru_cache

from seatrial.model.documents import Document, decode, encode
from seatrial.scheduler.cache.node_selectors import NamedNode, NodeSelector

SELECTORS_KEPT = 1024
"""The same few selectors are asked about every node, so each is parsed once."""


def selects(selector: Document | None, node: NamedNode) -> bool:
    """Whether a node selector picks the node; an absent one picks every node."""
    return selector is None or _parsed(encode(selector.get("nodeSelectorTerms") or ())).matches(node)


@lru_cache(SELECTORS_KEPT)
def _parsed(terms: bytes) -> NodeSelector:
    return NodeSelector(decode(terms))
