"""Numbers of a StatefulSet's pods. Pure."""

import re
from functools import lru_cache

from seatrial.model.documents import Document

_ORDINAL = re.compile(r"(.*)-(\d+)$")


@lru_cache(65536)
def ordinal_of(name: str, set_name: str) -> int | None:
    """The number at the end of a pod's name, if the rest is the set's."""
    match = _ORDINAL.match(name)
    return int(match.group(2)) if match and match.group(1) == set_name else None


def ordinals(owner: Document) -> range:
    """The numbers that a set's pods have."""
    first: int = (owner["spec"].get("ordinals") or {}).get("start", 0)
    return range(first, first + owner["spec"].get("replicas", 1))
